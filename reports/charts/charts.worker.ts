import { parentPort } from 'node:worker_threads';
import { drawChart } from './charts.draw.ts';
import type { Chart, ChartWorkspace } from './charts.types.ts';

/** Draws beside the thread that answers requests: one picture may take some tenths of a second. */
parentPort!.on(
  'message',
  ({ id, chart, workspace }: { id: number; chart: Chart; workspace: ChartWorkspace }) => {
    try {
      parentPort!.postMessage({ id, svg: drawChart(chart, workspace) });
    } catch (error) {
      parentPort!.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  },
);
