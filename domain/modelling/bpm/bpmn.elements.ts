import type { ModdleElement } from 'bpmn-moddle';
import type { ModelElement } from './bpm.model.ts';
import { automatedTypes, type ElementType, elementTypes } from './bpm.types.ts';

const typeNames = new Map<string, ElementType>([
  ...elementTypes.map((type) => [`bpmn:${type[0]!.toUpperCase()}${type.slice(1)}`, type] as const),
  // kinds of subprocesses
  ['bpmn:AdHocSubProcess', 'subProcess'],
  ['bpmn:Transaction', 'subProcess'],
]);

const listOf = (value: unknown): ModdleElement[] => (Array.isArray(value) ? (value as ModdleElement[]) : []);
const one = (value: unknown): ModdleElement | undefined =>
  typeof value === 'object' && value !== null ? (value as ModdleElement) : undefined;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Where an element lies. */
interface Place {
  pool: string | null;
  lane: string | null;
  parent: string | null;
}

/**
 * The elements of a model, in the order of the document: those of every process, and of the subprocesses within. An
 * element without an id is named by its place.
 * @throws Error where that is another's id.
 * @param definitions the root of a parsed model.
 */
export function extractElements(definitions: ModdleElement): ModelElement[] {
  const roots = listOf(definitions.rootElements);
  const pools = new Map<ModdleElement, string>();
  for (const root of roots) {
    for (const participant of listOf(root.participants)) {
      const process = one(participant.processRef);
      if (process && !pools.has(process)) pools.set(process, textOf(participant.name));
    }
  }
  const elements: ModelElement[] = [];
  const used = new Set<string>();
  const next = new Map<ModdleElement, ModdleElement[]>();
  const ids = new Map<ModdleElement, string>();

  const visit = (container: ModdleElement, place: Place) => {
    const lanes = lanesOf(container);
    for (const element of listOf(container.flowElements)) {
      const [source, target] = [one(element.sourceRef), one(element.targetRef)];
      if (element.$type === 'bpmn:SequenceFlow' && source && target) {
        const targets = next.get(source);
        if (targets) targets.push(target);
        else next.set(source, [target]);
      }
      const type = typeNames.get(element.$type);
      if (!type) continue;
      const id = textOf(element.id) || `element-${elements.length}`;
      if (used.has(id)) throw new Error(`two of its elements have the id ${id}`);
      used.add(id);
      ids.set(element, id);
      const lane = lanes.get(element) ?? place.lane;
      elements.push({
        bpmn_element_id: id,
        element_type: type,
        name: textOf(element.name),
        documentation: documentationOf(element),
        lane_name: lane,
        pool_name: place.pool,
        parent_element_id: place.parent,
        is_automated: automatedTypes.has(type),
        sequence_order: elements.length,
        next_element_ids: [],
      });
      visit(element, { pool: place.pool, lane, parent: id });
    }
  };
  for (const root of roots) {
    if (root.$type === 'bpmn:Process') {
      visit(root, { pool: pools.get(root) ?? null, lane: null, parent: null });
    }
  }

  const byId = new Map(elements.map((element) => [element.bpmn_element_id, element]));
  for (const [source, targets] of next) {
    const known = targets.flatMap((target) => ids.get(target) ?? []);
    const element = byId.get(ids.get(source) ?? '');
    if (element) element.next_element_ids = [...new Set(known)];
  }
  return elements;
}

/** The names of the lanes in which elements lie; of lanes within lanes the innermost. */
function lanesOf(container: ModdleElement): Map<ModdleElement, string> {
  const names = new Map<ModdleElement, string>();
  const visit = (set: ModdleElement | undefined) => {
    for (const lane of listOf(set?.lanes)) {
      for (const element of listOf(lane.flowNodeRef)) names.set(element, textOf(lane.name));
      visit(one(lane.childLaneSet));
    }
  };
  for (const set of listOf(container.laneSets)) visit(set);
  return names;
}

function documentationOf(element: ModdleElement): string | null {
  const texts = listOf(element.documentation).map(({ text }) => textOf(text));
  return texts.filter(Boolean).join('\n\n') || null;
}
