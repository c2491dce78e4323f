import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { StoredFile } from './files.store.ts';

/**
 * Notes in the audit log who has fetched a file that was made, whole or in part.
 * @param maker what has made it.
 */
export async function noteDownload(
  ctx: Ctx,
  maker: { job_id: string } | { run_id: string },
  file: StoredFile,
  range: { start: number; end: number } | undefined,
): Promise<void> {
  await command(ctx, async ({ emit }) => {
    emit({
      event_type: 'file.downloaded',
      data: {
        ...maker,
        file_id: file.id,
        name: file.name,
        size: file.size,
        sha256: file.sha256,
        ...(range ? { range } : {}),
      },
    });
  });
}
