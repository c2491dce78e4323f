import Type from 'typebox';
import { object } from '../../../domain/kernel/shapes.ts';
import { ApiError, type ApiRequest, type CallApi } from './mcp.api.ts';
import { answer, bounded, Id, MOST_ITEMS, Thing, type Tool, tool, writing } from './mcp.tool.ts';

const batches = '/mutation-batches';

/** Arguments of every write. */
export const writeArguments = {
  dry_run: Type.Boolean({
    default: true,
    description: 'Validates and responds like the real write, but writes nothing. Set to false to write.',
  }),
  batch_id: Type.Optional(
    Id('An open batch of open_batch that the write joins; by default each write has its own batch'),
  ),
};

/** The output of every write. */
export const written = (description: string) =>
  answer({
    dry_run: Type.Boolean({ description: 'Whether nothing was written' }),
    batch_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The batch, which undo_batch undoes; null if nothing was written',
    }),
    result: Thing(description),
  });

interface OpenBatch {
  id: string;
  confirm_token: string | null;
}

const openBatch = async (api: CallApi, name: string, dryRun: boolean) =>
  (
    await api<OpenBatch>({
      method: 'POST',
      path: batches,
      body: { tool_name: `mcp: ${name}`, dry_run: dryRun },
    })
  ).body;

/**
 * Sends one write in its own batch, which is closed even if the write fails; or in the given open batch.
 * @param name of the tool.
 */
export async function write(
  api: CallApi,
  name: string,
  { dry_run, batch_id }: { dry_run: boolean; batch_id?: string | undefined },
  request: ApiRequest,
) {
  const join = async (id: string) => {
    const { body } = await api({ ...request, headers: { ...request.headers, 'x-mutation-batch': id } });
    return bounded(
      { dry_run, batch_id: dry_run ? null : id, result: body },
      { items: MOST_ITEMS, text: 20_000 },
    );
  };
  if (batch_id !== undefined) {
    if (!dry_run) return await join(batch_id);
    throw new ApiError({
      status: 422,
      code: 'validation_failed',
      detail: 'dry_run: must be false with batch_id; a dry run has its own batch',
    });
  }
  const { id, confirm_token } = await openBatch(api, name, dry_run);
  try {
    return await join(id);
  } finally {
    await api({ method: 'POST', path: `${batches}/${id}/commit`, body: { confirm_token } });
  }
}

const Batch = object({ batch_id: Id('The batch') });

/** Tools for batches of several writes. */
export const batchTools: Tool[] = [
  tool({
    name: 'open_batch',
    title: 'Open a batch',
    description:
      'Opens a batch that several writes join by `batch_id`, to be undone together. Close it with close_batch.',
    input: object({
      title: Type.String({ minLength: 1, maxLength: 90, pattern: '\\S', description: 'The purpose' }),
    }),
    output: answer({ batch_id: Type.String() }),
    annotations: writing,
    run: async ({ title }, api) => ({ batch_id: (await openBatch(api, title, false)).id, cuts: [] }),
  }),
  tool({
    name: 'close_batch',
    title: 'Close a batch',
    description: 'Closes a batch of open_batch; only a closed batch can be undone.',
    input: Batch,
    output: answer({ batch: Thing('The batch') }),
    annotations: writing,
    async run({ batch_id }, api) {
      const { body } = await api({ method: 'POST', path: `${batches}/${batch_id}/commit`, body: {} });
      return { batch: body, cuts: [] };
    },
  }),
  tool({
    name: 'undo_batch',
    title: 'Undo a batch',
    description:
      'Undoes all writes of a closed batch; with `dry_run` (the default) previews the rollback. Requires the permission admin.rollback, and those that the writes required.',
    input: object({ ...Batch.properties, dry_run: writeArguments.dry_run }),
    output: answer({ dry_run: Type.Boolean(), report: Thing('What was undone, or the job that undoes it') }),
    annotations: { ...writing, destructiveHint: true },
    async run({ batch_id, dry_run }, api) {
      const { body } = await api({
        method: 'POST',
        path: `${batches}/${batch_id}/rollback`,
        body: { dry_run },
      });
      return bounded({ dry_run, report: body }, { items: MOST_ITEMS, text: 1_000 });
    },
  }),
];
