# refused: compile
# 
cp "$right/mul_add.rs" "$right/mul_add.cu" .
rm mul_add.cu && ln -s "$secret" mul_add.cu
