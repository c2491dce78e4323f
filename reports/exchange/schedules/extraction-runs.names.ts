import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';

/** The names of a run's files. They contain the scheduled time, so that a retry writes the same names. */
export interface RunNames {
  file: string;
  manifest: string;
  /** Copies of the files of the newest run. */
  latestFile: string;
  latestManifest: string;
}

/** As `cards-20261121T020000Z.csv` with `cards-20261121T020000Z.manifest.json`, and `latest.csv`. */
export function runNames({ kind, format }: Pick<ExportRequest, 'kind' | 'format'>, slot: Date): RunNames {
  const time = slot.toISOString().replace(/[-:.]/g, '').replace(/000Z$/, 'Z');
  return {
    file: `${kind}-${time}.${format}`,
    manifest: `${kind}-${time}.manifest.json`,
    latestFile: `latest.${format}`,
    latestManifest: 'latest.manifest.json',
  };
}
