import { type LinkTargets, linkKinds, type ModelElement } from './bpm.types.ts';

/** An element as a comparison names it. */
export interface NamedElement {
  bpmn_element_id: string;
  element_type: string;
  name: string;
}

export interface ChangedElement extends NamedElement {
  /** What is told of the element, by name: as it was and as it is. */
  changes: Record<string, { old: unknown; new: unknown }>;
}

export interface ElementDifferences {
  added: NamedElement[];
  removed: NamedElement[];
  changed: ChangedElement[];
  unchanged: number;
}

/** An element with what it is linked to, if that is to be compared. */
export type ComparedElement = ModelElement & Partial<LinkTargets>;

/** What is compared; the place in the document is none of it, since it changes with every element before. */
const compared = [
  'element_type',
  'name',
  'documentation',
  'lane_name',
  'pool_name',
  'parent_element_id',
  'next_element_ids',
  ...linkKinds.map(({ column }) => column),
  'custom_fields',
] as const satisfies (keyof ComparedElement)[];

const named = ({ bpmn_element_id, element_type, name }: ModelElement): NamedElement => ({
  bpmn_element_id,
  element_type,
  name,
});

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** How two versions of a model differ, element by element, each found again by its id. */
export function compareElements(
  before: readonly ComparedElement[],
  after: readonly ComparedElement[],
): ElementDifferences {
  const old = new Map(before.map((element) => [element.bpmn_element_id, element]));
  const now = new Set(after.map(({ bpmn_element_id }) => bpmn_element_id));
  const result: ElementDifferences = {
    added: [],
    removed: before.filter(({ bpmn_element_id }) => !now.has(bpmn_element_id)).map(named),
    changed: [],
    unchanged: 0,
  };
  for (const element of after) {
    const was = old.get(element.bpmn_element_id);
    if (!was) {
      result.added.push(named(element));
      continue;
    }
    const changes = Object.fromEntries(
      compared
        .filter((key) => !same(was[key], element[key]))
        .map((key) => [key, { old: was[key] ?? null, new: element[key] ?? null }]),
    );
    if (Object.keys(changes).length === 0) result.unchanged += 1;
    else result.changed.push({ ...named(element), changes });
  }
  return result;
}
