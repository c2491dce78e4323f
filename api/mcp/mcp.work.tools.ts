import Type from 'typebox';
import { closed, OpenObject } from '../../domain/kernel/shapes.ts';
import { bounded } from './mcp.bounds.ts';
import { listOf } from './mcp.cards.tools.ts';
import { answer, Cursor, Id, Key, listed, MOST_ITEMS, PageSize, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';

/** Tools that follow what goes on: jobs, and changes since a position. */
export const workTools: Tool[] = [
  tool({
    name: 'list_jobs',
    title: 'List jobs',
    description: 'Work in the background: imports, exports, analyses and the like, the newest first.',
    input: Type.Object(
      {
        kind: Type.Optional(Key('Such as `import`')),
        status: Type.Optional(
          Type.Union(
            ['queued', 'running', 'succeeded', 'failed', 'cancelled'].map((status) => Type.Literal(status)),
          ),
        ),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Jobs of the caller; of everybody for administrators'),
    annotations: reading,
    async run({ cursor = '', ...query }, { ask }) {
      const { body } = await ask({ method: 'GET', path: '/jobs', query: { ...query, cursor } });
      return listOf(body);
    },
  }),
  tool({
    name: 'read_job',
    title: 'Read a job',
    description: 'How far a job is, what it counted, and its result or error.',
    input: Type.Object({ id: Id('The id of a job') }, closed),
    output: answer({ job: Thing('The job') }),
    annotations: reading,
    async run({ id }, { ask }) {
      const { body } = await ask({ method: 'GET', path: `/jobs/${id}` });
      const { value, cuts } = bounded({ job: body }, { items: MOST_ITEMS, text: 5_000 });
      return { ...value, cuts };
    },
  }),
  tool({
    name: 'changes_since',
    title: 'What has changed since a position',
    description:
      'Changes of cards and relations in the order in which they were written. `after: "now"` gives the present position; go on with `next` while `has_more`.',
    input: Type.Object(
      {
        after: Type.Optional(
          Type.String({
            pattern: '^(now|[0-9]{1,19})$',
            description: 'A position, or `now`; absent: from the oldest change kept',
          }),
        ),
        limit: Type.Integer({ minimum: 1, maximum: MOST_ITEMS, default: 50 }),
        type: Type.Optional(Key('A card type')),
        card_id: Type.Optional(Id('The id of a card')),
      },
      closed,
    ),
    output: answer({ items: Type.Array(OpenObject), next: Type.String(), has_more: Type.Boolean() }),
    annotations: reading,
    async run(query, { ask }) {
      const { body } = await ask({ method: 'GET', path: '/changes', query });
      const { value, cuts } = bounded(body, { items: MOST_ITEMS, text: 500 });
      return { ...value, cuts };
    },
  }),
];
