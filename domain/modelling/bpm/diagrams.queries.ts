import { fragment, query, queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireSeenProcess } from './bpm.access.ts';
import { type DiagramRow, ProcessDiagram } from './bpm.model.ts';

/**
 * The order of the diagrams of a process, over the alias `d`: its own ones before those of merged processes, the newest
 * first. The first one is the current diagram.
 */
export const CURRENT_FIRST = '(d.lineage_id = d.process_id) desc, d.version desc, d.lineage_id';

/** The current diagram of a process, or a version of it. */
export async function currentDiagram(
  sql: Sql,
  processId: string,
  version?: number,
): Promise<DiagramRow | undefined> {
  const [found] = await queryRows<{ row: DiagramRow }>(
    sql,
    `select to_jsonb(d) as row from process_diagrams d
     where d.process_id = ?::uuid ${version === undefined ? '' : 'and d.version = ?'}
     order by ${CURRENT_FIRST} limit 1`,
    version === undefined ? [processId] : [processId, version],
  );
  return found?.row;
}

const { id, version, created_by, created_at } = columnMembers('d', ProcessDiagram);

/** The versions of a process diagram. */
export const versionList = defineList({
  name: 'process-diagram-versions',
  permission: 'bpm.view',
  from: 'process_diagrams d',
  id: 'd.id',
  sorts: columnSorts('d', ProcessDiagram, 'version', 'created_at'),
  defaultSort: 'version',
  defaultDir: 'desc',
  members: { id, version, created_by, created_at },
  async where(ctx, _params, processId) {
    const process = await requireSeenProcess(ctx.db, ctx, processId);
    return [fragment`d.process_id = ${process.id}::uuid`];
  },
});

/** The current diagram of a process, or a version of it; the text `null` where there is none. */
export async function diagramText(sql: Sql, processId: string, version?: number): Promise<JsonText> {
  const row = await currentDiagram(sql, processId, version);
  if (!row) return 'null';
  const [diagram] = await query(sql).rows<{ text: JsonText }>`select json_build_object('id', d.id,
    'process_id', d.process_id, 'bpmn_xml', p.text, 'svg_thumbnail', t.text,
       'version', d.version, 'element_count', (select count(*) from process_content_elements e
       where e.content_id = p.id),
       'warnings', p.warnings, 'created_by', d.created_by, 'created_at', utc(d.created_at))::text as text
     from process_diagrams d join process_contents p on p.id = d.content_id
       left join process_contents t on t.id = d.thumbnail_id
     where d.id = ${row.id}::uuid`;
  return diagram!.text;
}

/** @throws EstateError `forbidden`, `not_found`, also for an unknown version. */
export async function readDiagram(ctx: Ctx, processId: string, version?: number): Promise<JsonText> {
  requirePermission(ctx.caller, 'bpm.view');
  const process = await requireSeenProcess(ctx.db, ctx, processId);
  const text = await diagramText(ctx.db, process.id, version);
  if (version !== undefined && text === 'null') throw notFound('version of the diagram', String(version));
  return text;
}

/** A model or picture as it is downloaded. */
export interface DiagramFile {
  /** Without an extension. */
  name: string;
  content: Buffer;
  /** The value of `charset`. */
  encoding: string;
  sha256Of: string;
}

/** The model of a process, byte for byte as it was sent. @throws EstateError `forbidden`, `not_found`. */
export async function exportModel(ctx: Ctx, processId: string, version?: number): Promise<DiagramFile> {
  const { name, row } = await diagramOf(ctx, processId, version);
  const content = await ctx
    .db('process_contents')
    .where({ id: row.content_id })
    .first('text', 'original', 'encoding');
  return {
    name,
    content: content.original ?? Buffer.from(content.text, 'utf8'),
    encoding: content.encoding.startsWith('utf-16') ? 'utf-16' : content.encoding,
    sha256Of: row.content_id,
  };
}

/**
 * The picture of a diagram: the one that was sent with it, or else one that is drawn from its diagram interchange.
 * @throws EstateError `forbidden`, `not_found` also where there is neither.
 */
export async function exportPicture(ctx: Ctx, processId: string, version?: number): Promise<DiagramFile> {
  const { name, row } = await diagramOf(ctx, processId, version);
  const [picture] = await query(ctx.db).rows<{ text: string | null }>`select coalesce(t.text,
    p.picture) as text from process_contents p
     left join process_contents t on t.id = ${row.thumbnail_id} where p.id = ${row.content_id}`;
  const text = picture?.text ?? null;
  if (text === null) throw notFound('picture of the diagram', row.id);
  const content = Buffer.from(text, 'utf8');
  return { name, content, encoding: 'utf-8', sha256Of: `${row.content_id}/${row.thumbnail_id}` };
}

async function diagramOf(ctx: Ctx, processId: string, version?: number) {
  requirePermission(ctx.caller, 'bpm.view');
  const process = await requireSeenProcess(ctx.db, ctx, processId);
  const row = await currentDiagram(ctx.db, process.id, version);
  if (!row) throw notFound('diagram of the process', process.id);
  return { name: process.name, row };
}
