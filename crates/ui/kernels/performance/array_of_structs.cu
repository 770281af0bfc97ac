// One field of a struct of eight: an eighth of what is fetched is used.
// fail: P-UNCOALESCED
// checks: performance
// launch: heights<<<8, 32>>>(p: f32[2048], y: f32[256] uninit)
struct Particle { float x, y, z, vx, vy, vz, mass, age; };
extern "C" __global__ void heights(const Particle* p, float* y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = p[i].z;
}
