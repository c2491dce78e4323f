import { queryRows } from '../../../platform/database.ts';
import { invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { currentDiagram } from './diagrams.current.ts';
import { targetsOf } from './diagrams.save.ts';
import { elementId, elementText } from './elements.list.ts';
import { checkTargets, completeTargets, isEmpty, type LinkInput } from './links.check.ts';
import { activeLinks, saveLinks } from './links.save.ts';

/**
 * Links an element of the current diagram of a process to cards; absent targets are unlinked.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `precondition_failed`, `validation_failed`,
 * `cardinality_exceeded`.
 */
export async function linkElement(
  ctx: Ctx,
  processId: string,
  id: string,
  input: LinkInput,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.edit);
    const diagram = await currentDiagram(sql, process.id);
    if (!diagram) throw notFound('process element', id);
    const [element] = await queryRows<{ id: string; bpmn_element_id: string }>(
      sql,
      `select e.id, e.bpmn_element_id from process_content_elements e
       where e.content_id = ? and ${elementId(`'${diagram.lineage_id}'`)} = ?::uuid`,
      [diagram.content_id, id],
    );
    if (!element) throw notFound('process element', id);
    if (ctx.ifMatch) checkIfMatch(ctx, await elementText(sql, ctx, diagram, element.id));
    const links = await activeLinks(work, diagram.lineage_id);
    const after = completeTargets(input);
    const faults = await checkTargets(work, ctx, links.get(element.bpmn_element_id), after);
    if (faults.length > 0) throw invalidFields(faults);
    const all = targetsOf(links);
    if (isEmpty(after)) all.delete(element.bpmn_element_id);
    else all.set(element.bpmn_element_id, after);
    await saveLinks(work, ctx, process, diagram.lineage_id, all);
    return await elementText(sql, ctx, diagram, element.id);
  });
}
