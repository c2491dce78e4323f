import type { ResolvedSupplier } from '../../../domain/analysis/suppliers/suppliers.types.ts';
import { plainNameWords } from '../matching/names.ts';
import { isGeneric, spellingOf } from './spelling.ts';
import { knownSuppliers, lexicon } from './suppliers.lexicon.ts';

/** Minimum length of a name that can be the beginning of a subsidiary's name. */
const SHORTEST_BEGINNING = 4;

/** Words for the business of a subsidiary. */
const BUSINESSES = new Set(
  plainNameWords(
    `bank capital care cloud corporate energy estate foundation group holding industry leasing life mobility
    motor outsourcing pharma power property railway retail security telecom ventures wholesale
    ${lexicon.flatMap(({ words }) => words).join(' ')}`,
  ),
);

const parentsByName = new Map(knownSuppliers.map(({ name, parent }) => [name, parent]));

/**
 * Finds the owners of suppliers: known owners, regional branches (`SAP Deutschland` and `SAP`), and names that begin with
 * another supplier's complete name, followed by a business (`Nordwind Health` and `Nordwind`; not `Nordwind Brewery`). The
 * result has no cycles.
 */
export function withGroups(suppliers: readonly ResolvedSupplier[]): ResolvedSupplier[] {
  const byName = new Map(suppliers.map(({ canonicalName }, at) => [canonicalName, at]));
  const byKey = new Map(suppliers.flatMap(({ names }, at) => names.map(({ key }) => [key, at] as const)));
  const found = suppliers.map((supplier, at) => {
    const parent = parentOf(supplier, at, byName, byKey);
    return { ...supplier, ...parent };
  });
  for (const [at, supplier] of found.entries()) {
    if (isCircle(found, at)) Object.assign(supplier, none);
  }
  return found.map((supplier, at) => ({ ...supplier, group: groupName(found, at) }));
}

const none = { parent: null, parentReason: null, parentConfidence: null };

function parentOf(
  supplier: ResolvedSupplier,
  self: number,
  byName: ReadonlyMap<string, number>,
  byKey: ReadonlyMap<string, number>,
) {
  const owner = parentsByName.get(supplier.canonicalName);
  const owned = owner === undefined ? undefined : byName.get(owner);
  if (owned !== undefined && owned !== self) {
    const parentReason = `${supplier.canonicalName} is known to belong to ${owner}`;
    return { parent: owned, parentReason, parentConfidence: 0.95 };
  }
  for (const { name } of supplier.names) {
    const region = spellingOf(name)?.region;
    const whole = region && byKey.get(region.key);
    if (whole !== undefined && whole !== null && whole !== self) {
      const parentReason = `“${name}” is the name of another supplier followed by a region (${region!.name})`;
      return { parent: whole, parentReason, parentConfidence: 0.9 };
    }
  }
  if (parentsByName.has(supplier.canonicalName)) return none;
  return beginningOf(supplier, self, byKey) ?? none;
}

function beginningOf({ names }: ResolvedSupplier, self: number, byKey: ReadonlyMap<string, number>) {
  const { name } = names[0]!;
  const words = spellingOf(name)!.words;
  for (let length = words.length - 1; length > 0; length--) {
    const key = words.slice(0, length).join('');
    if (key.length < SHORTEST_BEGINNING) return undefined;
    const parent = byKey.get(key);
    if (parent === undefined || parent === self) continue;
    // of other words, the first one is a name that both have by chance
    if (!words.slice(length).every((word) => isGeneric(word) || BUSINESSES.has(word))) continue;
    const parentReason = `“${name}” begins with the complete name of another supplier`;
    return { parent, parentReason, parentConfidence: 0.6 };
  }
  return undefined;
}

function isCircle(suppliers: readonly ResolvedSupplier[], from: number): boolean {
  const seen = new Set([from]);
  for (let at = suppliers[from]!.parent; at !== null; at = suppliers[at]!.parent) {
    if (seen.has(at)) return true;
    seen.add(at);
  }
  return false;
}

/** The name of the top of the hierarchy, or of its owner if that is not in the inventory. */
function groupName(suppliers: readonly ResolvedSupplier[], from: number): string {
  let top = suppliers[from]!;
  while (top.parent !== null) top = suppliers[top.parent]!;
  let name = top.canonicalName;
  for (let owner = parentsByName.get(name); owner !== undefined; owner = parentsByName.get(name))
    name = owner;
  return name;
}
