# unable
# 
true
