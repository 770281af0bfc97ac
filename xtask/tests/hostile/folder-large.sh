# refused: compile
# 
cp "$right/mul_add.rs" "$right/mul_add.cu" .
rm mul_add.cu && truncate -s 100G mul_add.cu
