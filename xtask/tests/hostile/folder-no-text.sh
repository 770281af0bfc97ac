# refused: compile
# 
cp "$right/mul_add.rs" "$right/mul_add.cu" .
printf '\377\376' >> mul_add.cu
