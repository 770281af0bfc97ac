# refused: compile
# 
true
