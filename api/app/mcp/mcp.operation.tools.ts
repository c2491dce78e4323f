import type { ToolAnnotations } from '@modelcontextprotocol/server';
import Type, { type TSchema } from 'typebox';
import { Choice, closed, object, TextUpTo } from '../../../domain/kernel/shapes.ts';
import { queryExample } from '../../inventory/reports/query.schemas.ts';
import type { OperationSpec } from '../../operation.ts';
import { ApiError, type ApiRequest, type CallApi } from './mcp.api.ts';
import {
  answer,
  bounded,
  Id,
  JsonObject,
  listed,
  MOST_ITEMS,
  Parameters,
  paging,
  reading,
  type Tool,
  tool,
  writing,
} from './mcp.tool.ts';
import declarations from './mcp.tools.json' with { type: 'json' };

/** Arguments of every write. */
const writeArguments = {
  dry_run: Type.Boolean({
    default: true,
    description: 'Validates and responds like the real write, but writes nothing. Set to false to write.',
  }),
  batch_id: Type.Optional(
    Id('An open batch of open_batch that the write joins; by default each write has its own batch'),
  ),
};

/** The path that starts each analysis. */
const starts = {
  duplicates: '/ai-analysis/duplicates/analyse',
  vendors: '/ai-analysis/vendors/analyse',
  vendor_hierarchy: '/ai-analysis/vendors/resolve',
  modernizations: '/ai-analysis/modernizations/analyse',
  compliance: '/compliance/scans',
} as const;
type Startable = keyof typeof starts;

/** The path that lists the results of each analysis; duplicates have separate tools. */
const results = {
  vendors: '/ai-analysis/vendors',
  vendor_hierarchy: '/ai-analysis/vendors/hierarchy',
  modernizations: '/ai-analysis/modernizations',
  compliance: '/compliance/findings',
} as const;

/** Tools that choose the operation of an analysis by an argument. */
export const analysisTools: Tool[] = [
  tool({
    name: 'start_analysis',
    title: 'Start an analysis',
    description:
      'Starts an analysis of the complete inventory as a job: poll it with read_analysis_run or read_job. Only one of each kind runs at a time. With `dry_run` (the default) it only checks whether the analysis could start.',
    input: object({
      analysis: Choice(
        Object.keys(starts) as Startable[],
        '`duplicates`, `vendors` (suppliers and what they supply), `vendor_hierarchy` (owners of suppliers, and products), `modernizations`, `compliance`',
      ),
      options: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'The body of the operation: of duplicates `card_types` and `mode` (changes, everything, learn), of modernizations `target_type` and `modernization_type`, of compliance `regulations`',
        }),
      ),
      dry_run: writeArguments.dry_run,
    }),
    output: answer({
      dry_run: Type.Boolean({ description: 'Whether nothing was started' }),
      run_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_analysis_run' }),
      job_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_job' }),
    }),
    annotations: writing,
    async run({ analysis, options = {}, dry_run }, api) {
      const request = { method: 'POST', path: starts[analysis], query: { dry_run }, body: options };
      const { run_id, job_id } = (await api(request)).body;
      const ids = dry_run ? { run_id: null, job_id: null } : { run_id, job_id };
      return { dry_run, ...ids, truncations: [] };
    },
  }),
  tool({
    name: 'list_analysis_results',
    title: 'List the results of an analysis',
    description:
      'The results of the last run of an analysis: suppliers and what they supply, owners of suppliers with products, cards to modernise, or compliance findings. Duplicates are listed by find_duplicates.',
    input: object({
      analysis: Choice(Object.keys(results) as (keyof typeof results)[], 'The analysis'),
      filters: Parameters(
        'Parameters of the operation: `search`, `sort_by`, `sort_dir`; of vendors `category`; of vendor_hierarchy `vendor_type`, `parent_id`; of modernizations `target_type`, `modernization_type`, `priority`, `effort`, `status`, `card_id`; of compliance `regulation`, `status`, `severity`, `decision`, `category`, `card_id`',
      ),
      ...paging,
    }),
    output: listed('Suppliers, candidates or findings'),
    annotations: reading,
    async run({ analysis, filters, page_size, cursor = '' }, api) {
      const query = { ...filters, page_size, cursor };
      const { items, next_cursor = null } = (await api({ method: 'GET', path: results[analysis], query }))
        .body;
      return bounded({ items, next_cursor }, { items: MOST_ITEMS, text: 1_000 });
    },
  }),
];

const batches = '/mutation-batches';

/** The output of every write. */
const written = (description: string) =>
  answer({
    dry_run: Type.Boolean({ description: 'Whether nothing was written' }),
    batch_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The batch, which undo_batch undoes; null if nothing was written',
    }),
    result: JsonObject(description),
  });

const openBatch = async (api: CallApi, name: string, dryRun: boolean) =>
  (
    await api<{ id: string; confirm_token: string | null }>({
      method: 'POST',
      path: batches,
      body: { tool_name: `mcp: ${name}`, dry_run: dryRun },
    })
  ).body;

/**
 * Sends one write in its own batch, which is closed even if the write fails; or in the given open batch.
 * @param name of the tool.
 */
async function write(
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
    run: async ({ title }, api) => ({ batch_id: (await openBatch(api, title, false)).id, truncations: [] }),
  }),
  tool({
    name: 'close_batch',
    title: 'Close a batch',
    description: 'Closes a batch of open_batch; only a closed batch can be undone.',
    input: Batch,
    output: answer({ batch: JsonObject('The batch') }),
    annotations: writing,
    async run({ batch_id }, api) {
      const { body } = await api({ method: 'POST', path: `${batches}/${batch_id}/commit`, body: {} });
      return { batch: body, truncations: [] };
    },
  }),
  tool({
    name: 'undo_batch',
    title: 'Undo a batch',
    description:
      'Undoes all writes of a closed batch; with `dry_run` (the default) previews the rollback. Requires the permissions that the writes required, and for batches of other users admin.rollback.',
    input: object({ ...Batch.properties, dry_run: writeArguments.dry_run }),
    output: answer({
      dry_run: Type.Boolean(),
      report: JsonObject('What was undone, or the job that undoes it'),
    }),
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

/**
 * A tool for one operation of the API, which defines its arguments' schemas. It has one of `list`, `member`, `members` and
 * `write`, which determines the form of its output.
 */
interface OperationTool {
  name: string;
  title: string;
  description: string;
  /** The `id` of the operation. */
  operation: string;
  /** The description of the operation's path parameter, whose name as an argument is `id`. */
  id?: string;
  /** The offered members of the operation's query or body. */
  arguments?: string[];
  /** Replaced keywords of these members' schemas. */
  schemas?: Record<string, object | undefined>;
  /** Whether it has the argument `etag`, which is sent as `If-Match`. */
  etag?: boolean;
  /** Whether an example of a query is added to the description. */
  example?: boolean;
  /** For a list operation: the description of the items. */
  list?: string;
  /** The member of the output that contains the operation's response. */
  member?: string;
  /** The members of the operation's response, with their descriptions. */
  members?: Record<string, string | undefined>;
  /** For an operation that writes in a mutation batch: the description of its response. */
  write?: string;
  /** Limits of lists and texts in the output. */
  items?: number;
  text?: number;
  /** Whether it is read-only although it is not a GET. */
  reads?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}

interface ObjectSchema {
  properties?: Record<string, TSchema>;
  required?: string[];
}

/** The tools that are declared in `mcp.tools.json`. */
export const operationTools = (operations: ReadonlyMap<string, OperationSpec>): Tool[] =>
  declarations.map((declared: OperationTool) => operationTool(declared, operations.get(declared.operation)!));

function operationTool(declared: OperationTool, operation: OperationSpec): Tool {
  const { name, title, description } = declared;
  const requestFor = requests(declared, operation);
  const read = async (input: Record<string, unknown>, api: CallApi) =>
    answered(declared, (await api(requestFor(input))).body);
  return tool({
    name,
    title,
    description: declared.example ? `${description} ${JSON.stringify(queryExample)}` : description,
    input: Type.Unsafe<Record<string, unknown>>(inputOf(declared, operation)),
    output: outputOf(declared),
    annotations: annotationsOf(declared, operation),
    run: ({ dry_run, batch_id, ...input }: Record<string, unknown>, api) =>
      declared.write === undefined
        ? read(input, api)
        : write(
            api,
            name,
            { dry_run: dry_run !== false, batch_id: batch_id as string | undefined },
            requestFor(input),
          ),
  });
}

function inputOf(
  { id, arguments: names = [], schemas = {}, etag, list, write: writes }: OperationTool,
  { query, body }: OperationSpec,
) {
  const offered = (query ?? body) as ObjectSchema | undefined;
  const required = offered?.required ?? [];
  return {
    type: 'object',
    properties: {
      ...(id === undefined ? {} : { id: Id(id) }),
      ...(etag
        ? {
            etag: TextUpTo(200, 'Of read_card: the change fails if the card has changed since'),
          }
        : {}),
      ...Object.fromEntries(names.map((name) => [name, { ...offered!.properties![name], ...schemas[name] }])),
      ...(list === undefined ? {} : paging),
      ...(writes === undefined ? {} : writeArguments),
    },
    required: [...(id === undefined ? [] : ['id']), ...names.filter((name) => required.includes(name))],
    ...closed,
  };
}

function outputOf({ list, member, members, write: writes }: OperationTool) {
  if (list !== undefined) return listed(list);
  if (writes !== undefined) return written(writes);
  if (member !== undefined) return answer({ [member]: JsonObject(`The ${member}`) });
  return answer(
    Object.fromEntries(
      Object.entries(members!).map(([name, description = '']) => [name, Type.Unknown({ description })]),
    ),
  );
}

function annotationsOf(
  { list, write: writes, reads, destructive, idempotent, openWorld }: OperationTool,
  { method }: OperationSpec,
): ToolAnnotations {
  const isReading = list !== undefined || reads || (method === 'GET' && writes === undefined);
  return {
    ...(isReading ? reading : writing),
    ...(destructive ? { destructiveHint: true } : {}),
    ...(idempotent ? { idempotentHint: true } : {}),
    ...(openWorld ? { openWorldHint: true } : {}),
  };
}

/** Creates the operation's request from the tool's arguments. */
function requests(
  { list }: OperationTool,
  { method, url, body }: OperationSpec,
): (input: Record<string, unknown>) => ApiRequest {
  const path = url.replace('/api/v1', '');
  return ({ id, etag, ...input }) => ({
    method: String(method),
    path: path.replace(/:\w+/, encodeURIComponent(String(id))),
    ...(method === 'GET'
      ? { query: list === undefined ? input : { ...input, cursor: input.cursor ?? '' } }
      : body || method === 'POST'
        ? { body: input }
        : {}),
    ...(etag ? { headers: { 'if-match': String(etag) } } : {}),
  });
}

function answered(
  { list, member, items = MOST_ITEMS, text = 1_000 }: OperationTool,
  body: Record<string, unknown>,
) {
  const members =
    list === undefined
      ? member === undefined
        ? body
        : { [member]: body }
      : { items: body.items, next_cursor: body.next_cursor ?? null };
  return bounded(members, { items, text });
}
