import { query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EventCard } from '../../collaboration/items.ts';
import { command, commandWith } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows, insertRow } from '../../kernel/resources/rows.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { diagramEvent } from './bpm.events.ts';
import { BPM_TOPIC, type DiagramRow, type LinkTargets, ProcessDiagram } from './bpm.model.ts';
import { elementsAmong, type PreparedContent, type PreparedModel, storeContent } from './bpmn.read.ts';
import { currentDiagram, diagramText } from './diagrams.queries.ts';
import { compareModels, type ElementDifferences } from './elements.compare.ts';
import { activeLinks, type LinkOutcome, saveLinks, targetsOf } from './links.save.ts';

/** The result of a save. */
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
 * Saves the diagram of a process as its next version. Elements keep their links by their ids; links of removed elements
 * are deleted.
 * @returns the result, also of a dry run, as JSON.
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
  return await commandWith(ctx, { dryRun: input.dryRun }, save);
}

/**
 * The same within a command, with stored contents.
 * @param planned new links by element; other elements keep theirs.
 */
export async function saveWithin(
  work: Work,
  ctx: Ctx,
  process: EventCard,
  contents: Pick<DiagramRow, 'content_id' | 'thumbnail_id'>,
  planned: ReadonlyMap<string, LinkTargets> = new Map(),
): Promise<SavedDiagram> {
  const { sql } = work;
  const before = await currentDiagram(sql, process.id);
  const lineage_id = before?.lineage_id ?? process.id;
  const [next] = await query(sql).rows<{ version: number }>`select coalesce(max(version),
    0) + 1 as version from process_diagrams where process_id = ${process.id}::uuid`;
  const row = await insertRow(sql, ProcessDiagram, {
    process_id: process.id,
    lineage_id,
    version: next!.version,
    content_id: contents.content_id,
    thumbnail_id: contents.thumbnail_id,
    created_by: ctx.caller.userId,
  });
  const differences = await compareModels(sql, before?.content_id ?? null, row.content_id);
  const links = new Map<string, LinkTargets>([...(await activeLinks(work, lineage_id)), ...planned]);
  const existing = await elementsAmong(sql, row.content_id, [...links.keys()]);
  for (const element of links.keys()) if (!existing.has(element)) links.delete(element);
  work.emit(diagramEvent(row, false, { element_count: differences.element_count }));
  work.raise(BPM_TOPIC);
  const outcome = await saveLinks(work, ctx, process, lineage_id, targetsOf(links));
  return { id: row.id, version: row.version, differences, outcome };
}

/**
 * Deletes the diagram of a process with all its versions, elements and links. Flow versions stay.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `precondition_failed`.
 */
export async function deleteDiagram(ctx: Ctx, processId: string) {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.edit);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(sql, process.id));
    const rows = await deleteRows(sql, ProcessDiagram, (query) => query.where({ process_id: process.id }));
    if (rows.length === 0) throw notFound('diagram of the process', process.id);
    const result = { ok: true, versions_removed: rows.length, links_removed: 0, relations_removed: 0 };
    const lineages: string[] = await sql('process_element_links')
      .where({ process_id: process.id, flow_version_id: null })
      .distinct()
      .pluck('lineage_id');
    for (const lineage of lineages.sort()) {
      const outcome = await saveLinks(work, ctx, process, lineage, new Map());
      result.links_removed += outcome.links_removed;
      result.relations_removed += outcome.relations_removed;
    }
    for (const row of rows.toSorted((a, b) => a.version - b.version)) work.emit(diagramEvent(row, true));
    work.raise(BPM_TOPIC);
    return result;
  });
}
