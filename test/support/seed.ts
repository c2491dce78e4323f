import fc from 'fast-check';

// the same properties are tried each time, so that a change is judged by itself; SOAK_SEED, as of nightly runs, tries others
fc.configureGlobal({ seed: Number(process.env.SOAK_SEED || 2611) });
