import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

export interface MemoryReport {
  startBytes: number;
  peakBytes: number;
  /** Peak minus start. */
  growthBytes: number;
}

const SAMPLE_MS = 20;

/** Resident memory of a process with all its threads, in bytes; 0 when it has ended. Linux only. */
export function residentBytes(pid: number): number {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 0;
  }
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Samples the memory of some processes together, every 20 ms, until `stop` is called. */
export function sampleMemory(pids: number[]): { stop(): MemoryReport } {
  const now = () => pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const startBytes = now();
  let peakBytes = startBytes;
  const sample = () => {
    peakBytes = Math.max(peakBytes, now());
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return { startBytes, peakBytes, growthBytes: peakBytes - startBytes };
    },
  };
}
