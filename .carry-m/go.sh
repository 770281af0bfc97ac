export PATH=$PWD/.carry-m:$PATH
time .carry-m/xtask registers --device gpu > $OUT/registers.txt 2>$OUT/registers.err; echo rc $?; head -12 $OUT/registers.txt; tail -3 $OUT/registers.txt; tail -5 $OUT/registers.err
nvidia-smi --query-gpu=driver_version --format=csv,noheader
