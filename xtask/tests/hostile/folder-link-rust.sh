# refused: compile
# 
cp "$right/mul_add.rs" "$right/mul_add.cu" .
rm mul_add.rs && ln -s "$secret" mul_add.rs
