import type { ToolAnnotations } from '@modelcontextprotocol/server';
import Type, { type TSchema } from 'typebox';
import { closed } from '../../../domain/kernel/shapes.ts';
import type { OperationSpec } from '../../operation.ts';
import { queryExample } from '../../schemas/reports.query.ts';
import type { ApiRequest, CallApi } from './mcp.api.ts';
import { write, writeArguments, written } from './mcp.batch.tools.ts';
import {
  answer,
  bounded,
  Id,
  listed,
  MOST_ITEMS,
  paging,
  reading,
  Thing,
  type Tool,
  tool,
  writing,
} from './mcp.tool.ts';
import declarations from './mcp.tools.json' with { type: 'json' };

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
            etag: Type.String({
              maxLength: 200,
              description: 'Of read_card: the change fails if the card has changed since',
            }),
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
  if (member !== undefined) return answer({ [member]: Thing(`The ${member}`) });
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
