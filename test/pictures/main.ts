import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { startService } from '../bench/harness/service.ts';

/** The picture that is made of each report, by name of the file. */
const pictures: Record<string, string> = {
  dashboard: 'dashboard',
  'data-quality': 'data-quality',
  landscape: 'landscape',
  portfolio: 'portfolio?size_field=costTotalAnnual',
  'app-portfolio': 'app-portfolio',
  roadmap: 'roadmap?type=Application',
  cost: 'cost',
  'cost-treemap': 'cost-treemap?group_by=BusinessCapability',
  'capability-heatmap': 'capability-heatmap',
  'capability-heatmap-costs': 'capability-heatmap?metric=total_cost',
};

/**
 * Writes a picture of each report on the demo landscape to docs/pictures; with a folder as argument also as PNG
 * there, to be looked at.
 */
async function writePictures(pngFolder: string | undefined): Promise<void> {
  const folder = path.resolve(import.meta.dirname, '../../docs/pictures');
  await mkdir(folder, { recursive: true });
  const service = await startService({ DEMO: 'true' });
  try {
    for (const [name, report] of Object.entries(pictures)) {
      const answer = await service.api.fetch(`/reports/${report}`, { headers: { accept: 'image/svg+xml' } });
      const svg = await answer.text();
      await writeFile(path.join(folder, `${name}.svg`), svg);
      if (pngFolder === undefined) continue;
      await writeFile(path.join(pngFolder, `${name}.png`), new Resvg(svg).render().asPng());
    }
  } finally {
    await service.stop();
  }
}

await writePictures(process.argv[2]);
