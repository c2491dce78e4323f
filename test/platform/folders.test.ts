import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { protectData } from '../../platform/folders.ts';

it('closes a data folder that an earlier version left open, and writes nothing that others may read', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-open-'));
  const mask = process.umask();
  onTestFinished(async () => {
    process.umask(mask);
    await rm(folder, { recursive: true, force: true });
  });
  const modeOf = (name: string) => statSync(path.join(folder, name)).mode & 0o777;
  mkdirSync(path.join(folder, 'files'));
  chmodSync(path.join(folder, 'files'), 0o755);
  chmodSync(folder, 0o755);
  protectData(folder);
  expect(modeOf('files')).toBe(0o700);
  expect(modeOf('.')).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
  writeFileSync(path.join(folder, 'new'), '');
  expect(modeOf('new')).toBe(0o600);
});
