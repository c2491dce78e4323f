import { notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { diagramEvent } from './bpm.events.ts';
import { BPM_TOPIC, type DiagramRow, type LinkTargets, type ProcessCard } from './bpm.types.ts';
import type { PreparedContent, PreparedModel } from './bpmn.read.ts';
import { elementsAmong, storeContent } from './contents.store.ts';
import { currentDiagram } from './diagrams.current.ts';
import { diagramText } from './diagrams.queries.ts';
import { compareModels, type ElementDifferences } from './elements.compare.ts';
import { type LinkOutcome, liveLinks, saveLinks } from './links.save.ts';

/** What a save has done. */
interface SavedDiagram {
  id: string;
  version: number;
  differences: ElementDifferences;
  outcome: LinkOutcome;
}

export interface SaveInput {
  model: PreparedModel;
  thumbnail: PreparedContent | null;
  dryRun: boolean;
}

/**
 * Saves the diagram of a process as its next version. Links of elements stay by the ids of these; links of elements that
 * are gone go with them.
 * @returns what was done, or would be, as JSON.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `precondition_failed`.
 */
export async function saveDiagram(ctx: Ctx, processId: string, input: SaveInput): Promise<JsonText> {
  const save = async (work: Work) => {
    const process = await lockProcess(work, ctx, processId, rights.edit);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, process.id));
    const content_id = await storeContent(work.sql, input.model);
    const thumbnail_id = input.thumbnail && (await storeContent(work.sql, input.thumbnail));
    const saved = await saveWithin(work, ctx, process, { content_id, thumbnail_id });
    const { element_count, counts, added, removed, changed } = saved.differences;
    const plain = JSON.stringify({
      id: input.dryRun ? null : saved.id,
      process_id: process.id,
      version: saved.version,
      element_count,
      element_changes: counts,
      dry_run: input.dryRun,
      warnings: input.model.warnings,
      ...saved.outcome,
    });
    return `${plain.slice(0, -1)},"elements_added":${added},"elements_removed":${removed},"elements_changed":${changed}}`;
  };
  return await command(ctx, save, { dryRun: input.dryRun });
}

/**
 * The same within a command, with stored contents.
 * @param planned what elements are to be linked to from now on; the others keep their links.
 */
export async function saveWithin(
  work: Work,
  ctx: Ctx,
  process: ProcessCard,
  contents: Pick<DiagramRow, 'content_id' | 'thumbnail_id'>,
  planned: ReadonlyMap<string, LinkTargets> = new Map(),
): Promise<SavedDiagram> {
  const { sql } = work;
  const before = await currentDiagram(sql, process.id);
  const lineage_id = before?.lineage_id ?? process.id;
  const { rows } = await sql.raw(
    'select coalesce(max(version), 0) + 1 as version from process_diagrams where process_id = ?::uuid',
    [process.id],
  );
  const row = (await insertRow(sql, 'process_diagrams', {
    process_id: process.id,
    lineage_id,
    version: Number(rows[0].version),
    content_id: contents.content_id,
    thumbnail_id: contents.thumbnail_id,
    created_by: ctx.caller.userId,
  })) as DiagramRow;
  const differences = await compareModels(sql, before?.content_id ?? null, row.content_id);
  const links = new Map<string, LinkTargets>([...(await liveLinks(work, lineage_id)), ...planned]);
  const there = await elementsAmong(sql, row.content_id, [...links.keys()]);
  for (const element of links.keys()) if (!there.has(element)) links.delete(element);
  work.emit(diagramEvent(row, false, { element_count: differences.element_count }));
  work.raise(BPM_TOPIC);
  const outcome = await saveLinks(work, ctx, process, lineage_id, targetsOf(links));
  return { id: row.id, version: row.version, differences, outcome };
}

/** What the links lead to, without the rest of their rows. */
export function targetsOf(links: ReadonlyMap<string, LinkTargets>): Map<string, LinkTargets> {
  return new Map(
    [...links].map(([element, { application_id, data_object_id, it_component_id, custom_fields }]) => [
      element,
      { application_id, data_object_id, it_component_id, custom_fields },
    ]),
  );
}

/** What a deletion has taken away. */
export interface DeletedDiagram {
  ok: true;
  versions_removed: number;
  links_removed: number;
  relations_removed: number;
}

/**
 * Deletes the diagram of a process with all its versions, elements and links. Flow versions stay.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `precondition_failed`.
 */
export async function deleteDiagram(ctx: Ctx, processId: string): Promise<DeletedDiagram> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.edit);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(sql, process.id));
    const { rows } = await sql.raw(
      `with gone as (delete from process_diagrams d where d.process_id = ?::uuid returning d.version, to_jsonb(d) as row)
       select row from gone order by version`,
      [process.id],
    );
    if (rows.length === 0) throw notFound('diagram of the process', process.id);
    const answer: DeletedDiagram = {
      ok: true,
      versions_removed: rows.length,
      links_removed: 0,
      relations_removed: 0,
    };
    const lineages: string[] = await sql('process_element_links')
      .where({ process_id: process.id, flow_version_id: null })
      .distinct()
      .pluck('lineage_id');
    for (const lineage of lineages.sort()) {
      const outcome = await saveLinks(work, ctx, process, lineage, new Map());
      answer.links_removed += outcome.links_removed;
      answer.relations_removed += outcome.relations_removed;
    }
    for (const { row } of rows as { row: DiagramRow }[]) work.emit(diagramEvent(row, true));
    work.raise(BPM_TOPIC);
    return answer;
  });
}
