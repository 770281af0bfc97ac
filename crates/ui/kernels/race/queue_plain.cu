// A work queue whose head is taken and moved in two steps.
// fail: E-RACE-BLOCKS
// launch: work<<<4, 1>>>(head: i32[1] zero, x: f32[8], y: f32[8] zero)
extern "C" __global__ void work(int* head, const float* x, float* y) {
    int item = *head;
    *head = item + 1;
    if (item < 8) y[item] = 2.0f * x[item];
}
