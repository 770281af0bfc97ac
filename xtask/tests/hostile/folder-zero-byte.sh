# refused: compile
# 
cp "$right/mul_add.rs" "$right/mul_add.cu" .
printf '\000' >> mul_add.cu
