import Type, { type Static } from 'typebox';
import { closed } from '../../domain/kernel/shapes.ts';
import { CardCreateBody, cardValues, Name } from '../schemas/card-bodies.ts';
import { RelationCreateBody } from '../schemas/relations.ts';
import { type Ask, type Question, RefusedError, type Reply } from './mcp.ask.ts';
import { bounded } from './mcp.bounds.ts';
import { answer, Id, MOST_ITEMS, Thing } from './mcp.schemas.ts';
import { type Tool, tool } from './mcp.tool.ts';

/** Members of every write. */
export const safety = {
  dry_run: Type.Boolean({
    default: true,
    description: 'Checks and answers as the real write would, and writes nothing. Set to false to write.',
  }),
  batch_id: Type.Optional(
    Id('An open batch of open_batch, which the write joins; without it the write is a batch of its own'),
  ),
};

/** The answer of every write. */
export const written = (description: string) =>
  answer({
    dry_run: Type.Boolean({ description: 'Whether nothing was written' }),
    batch_id: Type.Union([Type.String(), Type.Null()], {
      description: 'With this undo_batch takes the write back; null where nothing was written',
    }),
    result: Thing(description),
  });

/** Of tools that change something. */
export const writing = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

// what is refused anyway is not offered
const { status: _status, approval_status: _approval, strict_attributes: _strict, ...values } = cardValues;

/** Tools that change the inventory. */
export const writeTools: Tool[] = [
  tool({
    name: 'create_card',
    title: 'Create a card',
    description: 'A new card of a type of describe_metamodel. A dry run unless `dry_run` is false.',
    input: Type.Object({ type: CardCreateBody.properties.type, name: Name, ...values, ...safety }, closed),
    output: written('The card; after a dry run its id leads nowhere'),
    annotations: writing,
    run: ({ dry_run, batch_id, ...body }, { ask }) =>
      write(ask, 'create_card', { dry_run, batch_id }, { method: 'POST', path: '/cards', body }),
  }),
  tool({
    name: 'update_card',
    title: 'Change a card',
    description:
      'Changes what is given; null clears; `attributes` and `lifecycle` are merged key by key. A dry run unless `dry_run` is false.',
    input: Type.Object(
      {
        id: Id('The id of a card'),
        etag: Type.Optional(
          Type.String({
            maxLength: 200,
            description: 'Of read_card: refuses when the card has changed since',
          }),
        ),
        name: Type.Optional(Name),
        ...values,
        ...safety,
      },
      closed,
    ),
    output: written('The card'),
    annotations: { ...writing, idempotentHint: true },
    run: ({ id, etag, dry_run, batch_id, ...body }, { ask }) =>
      write(
        ask,
        'update_card',
        { dry_run, batch_id },
        { method: 'PATCH', path: `/cards/${id}`, body, ...(etag ? { headers: { 'if-match': etag } } : {}) },
      ),
  }),
  tool({
    name: 'relate_cards',
    title: 'Relate two cards',
    description:
      'A new relation of a relation type of describe_metamodel. A dry run unless `dry_run` is false.',
    input: Type.Object({ ...RelationCreateBody.properties, ...safety }, closed),
    output: written('The relation'),
    annotations: writing,
    run: ({ dry_run, batch_id, ...body }, { ask }) =>
      write(ask, 'relate_cards', { dry_run, batch_id }, { method: 'POST', path: '/relations', body }),
  }),
  tool({
    name: 'unrelate_cards',
    title: 'Remove a relation',
    description: 'Removes a relation of list_relations; the cards stay. A dry run unless `dry_run` is false.',
    input: Type.Object({ id: Id('The id of a relation'), ...safety }, closed),
    output: written('Empty'),
    annotations: { ...writing, destructiveHint: true },
    run: ({ id, ...batch }, { ask }) =>
      write(ask, 'unrelate_cards', batch, { method: 'DELETE', path: `/relations/${id}` }),
  }),
  tool({
    name: 'archive_card',
    title: 'Archive a card',
    description:
      'Takes a card out of the inventory; it can be restored. read_impact tells beforehand what it touches. A dry run unless `dry_run` is false.',
    input: Type.Object(
      {
        id: Id('The id of a card'),
        child_strategy: Type.Optional(
          Type.Union([Type.Literal('cascade'), Type.Literal('disconnect'), Type.Literal('reparent')], {
            description:
              'Needed when the card has active children: `cascade` takes all below along, `disconnect` leaves them without a parent, `reparent` gives them the grandparent',
          }),
        ),
        ...safety,
      },
      closed,
    ),
    output: written('The card and the ids of others that were touched'),
    annotations: { ...writing, destructiveHint: true },
    run: ({ id, dry_run, batch_id, ...body }, { ask }) =>
      write(
        ask,
        'archive_card',
        { dry_run, batch_id },
        { method: 'POST', path: `/cards/${id}/archive`, body },
      ),
  }),
  tool({
    name: 'open_batch',
    title: 'Open a batch',
    description:
      'A batch that several writes join by `batch_id`, to be undone together. Close it with close_batch.',
    input: Type.Object(
      { title: Type.String({ minLength: 1, maxLength: 90, pattern: '\\S', description: 'What it is for' }) },
      closed,
    ),
    output: answer({ batch_id: Type.String() }),
    annotations: writing,
    async run({ title }, { ask }) {
      return { batch_id: (await openBatch(ask, `mcp: ${title}`, false)).id, cuts: [] };
    },
  }),
  tool({
    name: 'close_batch',
    title: 'Close a batch',
    description: 'Closes a batch of open_batch; only then can it be undone.',
    input: Type.Object({ batch_id: Id('The batch') }, closed),
    output: answer({ batch: Thing('The batch') }),
    annotations: writing,
    async run({ batch_id }, { ask }) {
      const { body } = await ask({ method: 'POST', path: `/mutation-batches/${batch_id}/commit`, body: {} });
      return { batch: body, cuts: [] };
    },
  }),
  tool({
    name: 'undo_batch',
    title: 'Undo a batch',
    description:
      'Takes back everything that a closed batch wrote, or with `dry_run` (the default) tells what that would do. Needs the permission admin.rollback, and those that its writes needed.',
    input: Type.Object({ batch_id: Id('The batch'), dry_run: safety.dry_run }, closed),
    output: answer({ dry_run: Type.Boolean(), report: Thing('What was undone, or the job that does it') }),
    annotations: { ...writing, destructiveHint: true },
    async run({ batch_id, dry_run }, { ask }) {
      const { body } = await ask({
        method: 'POST',
        path: `/mutation-batches/${batch_id}/rollback`,
        body: { dry_run },
      });
      const { value, cuts } = bounded({ dry_run, report: body }, { items: MOST_ITEMS, text: 1_000 });
      return { ...value, cuts };
    },
  }),
];

interface OpenedBatch {
  id: string;
  confirm_token: string | null;
}

async function openBatch(ask: Ask, toolName: string, dryRun: boolean): Promise<OpenedBatch> {
  const body = { tool_name: toolName, dry_run: dryRun };
  return (await ask({ method: 'POST', path: '/mutation-batches', body })).body;
}

type Safety = Pick<Static<ReturnType<typeof Type.Object<typeof safety>>>, 'dry_run'> & {
  batch_id?: string | undefined;
};

/** Carries out one write in a batch of its own, tried or real, which is closed whatever becomes of it; or in a given one. */
export async function write(ask: Ask, name: string, { dry_run, batch_id }: Safety, question: Question) {
  if (batch_id !== undefined && dry_run) {
    throw new RefusedError({
      status: 422,
      code: 'validation_failed',
      detail: 'dry_run: must be false with batch_id; a dry run has a batch of its own',
    });
  }
  const joining = (id: string) =>
    ask({ ...question, headers: { ...question.headers, 'x-mutation-batch': id } });
  if (batch_id !== undefined) return outcome(await joining(batch_id), { dry_run, batch_id });
  const batch = await openBatch(ask, `mcp: ${name}`, dry_run);
  try {
    return outcome(await joining(batch.id), { dry_run, batch_id: dry_run ? null : batch.id });
  } finally {
    const confirm_token = batch.confirm_token;
    await ask({ method: 'POST', path: `/mutation-batches/${batch.id}/commit`, body: { confirm_token } });
  }
}

function outcome({ body }: Reply, batch: { dry_run: boolean; batch_id: string | null }) {
  const { value, cuts } = bounded({ ...batch, result: body ?? {} }, { items: MOST_ITEMS, text: 20_000 });
  return { ...value, cuts };
}
