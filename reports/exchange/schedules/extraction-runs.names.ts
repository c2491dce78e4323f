import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';

/** The names of a run's files. They carry the moment it stands for, so that a run repeated writes the same names. */
export interface RunNames {
  file: string;
  manifest: string;
  /** Always those of the newest run. */
  latestFile: string;
  latestManifest: string;
}

/** As `cards-20261121T020000Z.csv` with `cards-20261121T020000Z.manifest.json`, and `latest.csv`. */
export function runNames({ kind, format }: Pick<ExportRequest, 'kind' | 'format'>, slot: Date): RunNames {
  const moment = slot.toISOString().replace(/[-:.]/g, '').replace(/000Z$/, 'Z');
  return {
    file: `${kind}-${moment}.${format}`,
    manifest: `${kind}-${moment}.manifest.json`,
    latestFile: `latest.${format}`,
    latestManifest: 'latest.manifest.json',
  };
}
