import type { Response } from '../http.ts';
import { failure, malformed, type Request, readObject, textsOf } from './http.ts';
import { type Instance, write } from './instance.ts';
import { comparer, compileQuery, lowerBound, parseQuery } from './query.ts';
import { place, type Row } from './store.ts';
import { type Account, mayDo, type Operation } from './users.ts';

/** The most rows of an answer unless the request says otherwise. */
const DEFAULT_LIMIT = 10_000;

export function tableCall(
  instance: Instance,
  account: Account,
  request: Request,
  table: string,
  id: string | undefined,
): Response {
  if (!instance.store.tables.has(table)) return failure(400, `Invalid table ${table}`, null);
  const operations: Record<string, Operation> = {
    GET: 'read',
    POST: 'create',
    PATCH: 'write',
    DELETE: 'delete',
  };
  const operation = operations[request.method];
  if (!operation || (id === undefined) !== ['GET', 'POST'].includes(request.method))
    return failure(405, 'Method not supported', null);
  if (!mayDo(instance.store, account, table, operation))
    return operation === 'read'
      ? failure(403, 'User Not Authorized', 'Failed API level ACL Validation')
      : failure(403, 'Operation Failed', 'ACL Exception Operation Failed due to security constraints');
  if (id === undefined)
    return request.method === 'GET'
      ? list(instance, account, request, table)
      : create(instance, account, request, table);
  const row = instance.store.find(table, id);
  if (!row || account.hidesRow(row))
    return failure(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval");
  if (request.method === 'DELETE') {
    write.remove(instance, row, account.userName);
    return { status: 204 };
  }
  const values = readBody(instance, request, row.table);
  if (!values) return malformed;
  write.update(instance, row, values, account.userName);
  return { status: 200, body: { result: rendered(instance, account, request, row) } };
}

/** The stored values of a row, without links of references; of all columns unless the request names some. */
function rendered({ store }: Instance, account: Account, { query }: Request, row: Row) {
  return Object.fromEntries(
    (query.get('sysparm_fields')?.split(',') ?? [...store.fields(row.table).keys()])
      .filter((name) => store.field(row.table, name))
      .map((name) => [name, account.hidesField(row.table, name) ? '' : store.value(row, name)]),
  );
}

function list(instance: Instance, account: Account, request: Request, table: string): Response {
  const { query } = request;
  const limit = Number(query.get('sysparm_limit') ?? DEFAULT_LIMIT);
  const offset = Number(query.get('sysparm_offset') ?? 0);
  const counted = query.get('sysparm_no_count') !== 'true';
  const found = search(instance, table, queryOf(instance, account, query), offset, limit, counted);
  // access controls act after the query: an answer may be shorter than the page it is
  const visible = found.rows.filter((row) => !account.hidesRow(row));
  return {
    status: 200,
    headers: counted ? { 'x-total-count': String(found.total) } : {},
    body: { result: visible.map((row) => rendered(instance, account, request, row)) },
  };
}

/** The query, with the one function of the product that is known here put into words: who is asking. */
function queryOf({ store }: Instance, { userName }: Account, query: URLSearchParams): string {
  const text = query.get('sysparm_query') ?? '';
  if (!text.includes('javascript:')) return text;
  const user = store.of('sys_user').find(({ values }) => values.user_name === userName);
  return text.replaceAll('javascript:gs.getUserID()', user?.values.sys_id ?? '');
}

interface Found {
  rows: Row[];
  /** Rows that the query finds altogether, hidden ones too. */
  total: number;
}

function search(
  instance: Instance,
  table: string,
  text: string,
  offset: number,
  limit: number,
  counted: boolean,
): Found {
  const { store } = instance;
  const parsed = parseQuery(text);
  const fits = compileQuery<Row>(parsed, {
    field: (name) => store.field(table, name),
    value: (row, name) => store.value(row, name),
  });
  const ids = store.ids(table);
  const bound = lowerBound(parsed);
  const start = bound === undefined ? 0 : place(ids, bound);
  const inOrder =
    parsed.order.length === 0 || (parsed.order[0]!.field === 'sys_id' && !parsed.order[0]!.descending);
  const wanted = inOrder && !counted ? offset + limit : Number.POSITIVE_INFINITY;
  const rows: Row[] = [];
  for (let at = start; at < ids.length && rows.length < wanted; at += 1) {
    const row = store.rows.get(ids[at]!)!;
    if (fits(row)) rows.push(row);
  }
  if (!inOrder) {
    const keys = parsed.order.map(({ field, descending }) => ({
      field,
      compare: comparer(store.field(table, field)),
      sign: descending ? -1 : 1,
    }));
    rows.sort((a, b) => {
      for (const { field, compare, sign } of keys) {
        const order = compare(store.value(a, field), store.value(b, field));
        if (order !== 0) return order * sign;
      }
      return 0;
    });
  }
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

function create(instance: Instance, account: Account, request: Request, table: string): Response {
  const { store } = instance;
  const values = readBody(instance, request, table);
  if (!values) return malformed;
  // a row is made in the class that its body names, where that extends the table
  const wanted = String(readObject(request.body)!.sys_class_name);
  const target = store.tables.has(wanted) && store.instanceOf(wanted, table) ? wanted : table;
  const named = target === table ? values : readBody(instance, request, target)!;
  const row = write.insert(instance, target, named, account.userName);
  return {
    status: 201,
    headers: { location: `${instance.base}/api/now/v2/table/${table}/${row.values.sys_id}` },
    body: { result: rendered(instance, account, request, row) },
  };
}

/** The values of a body for columns that the table has. */
function readBody({ store }: Instance, { body }: Request, table: string): Record<string, string> | undefined {
  const document = readObject(body);
  if (!document) return undefined;
  return Object.fromEntries(Object.entries(textsOf(document)).filter(([name]) => store.field(table, name)));
}
