import type { FieldError } from '../../../platform/errors.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from './fold.ts';
import { guessColumns, guessType } from './mapping.guess.ts';
import {
  blockOptions,
  guessOther,
  guessStands,
  keyOf,
  nativeTypes,
  otherTargets,
  type Stands,
  standsFor,
} from './mapping.stands.ts';
import {
  cardTargets,
  LEFT_OUT,
  MAX_TAG,
  type TargetOption,
  TYPE_COLUMN,
  tagGroupOf,
  takesMany,
} from './mapping.targets.ts';
import type { FieldMappings } from './migration.model.ts';
import type { SourceBlock, SourceColumn, SourceType } from './source.types.ts';

/** A block with what it is mapped to. */
export interface MappedBlock {
  block: SourceBlock;
  /** Undefined: the block is left out, since nobody has said what it is. */
  stands: Stands | undefined;
  /** The card type of a block of cards. */
  type: CardType | undefined;
  /** Somebody has said that it shall be left out, or it tells of the other tool alone. */
  leftOut: boolean;
  /** Targets by column; what is to be left out is {@link LEFT_OUT}. */
  columns: ReadonlyMap<string, string>;
  /** Columns whose target was found by their name. */
  guessed: ReadonlySet<string>;
}

/** What all blocks are mapped to: as saved, and by the names of columns where nothing was. */
export function mapBlocks(
  metamodel: Metamodel,
  source: SourceType,
  blocks: readonly SourceBlock[],
  saved: FieldMappings | null,
): MappedBlock[] {
  const types = cardTypesOf(metamodel, blocks, saved);
  const typeOf = nativeTypes(metamodel, types);
  return blocks.map((block) => {
    const columns = new Map<string, string>();
    const guessed = new Set<string>();
    const own = saved?.[block.native_type] ?? {};
    const leftOut = own[TYPE_COLUMN] === LEFT_OUT || (block.kind === 'about' && !own[TYPE_COLUMN]);
    const card = types.get(block.native_type);
    const stands =
      leftOut || own[TYPE_COLUMN] !== undefined
        ? standsFor(metamodel, own[TYPE_COLUMN] ?? '')
        : card
          ? standsFor(metamodel, card)
          : guessStands(metamodel, block, typeOf);
    const type = stands?.kind === 'card' ? stands.type : undefined;
    if (!stands) return { block, stands, type, leftOut, columns, guessed };
    const targets = columnTargets(metamodel, stands);
    const known = new Set(targets.map(({ key }) => key));
    for (const [column, target] of Object.entries(own)) {
      if (column === TYPE_COLUMN) continue;
      if (target === LEFT_OUT || known.has(target) || isTagGroup(stands, target)) columns.set(column, target);
    }
    const taken = new Set(columns.values());
    const many = (target: string) => type !== undefined && takesMany(target);
    for (const [column, target] of guessBlock(metamodel, source, block, stands, types, targets)) {
      if (columns.has(column) || (taken.has(target) && !many(target))) continue;
      taken.add(target);
      columns.set(column, target);
      guessed.add(column);
    }
    return { block, stands, type, leftOut, columns, guessed };
  });
}

/** The card types of blocks of cards, by native type. */
export function cardTypesOf(
  metamodel: Metamodel,
  blocks: readonly SourceBlock[],
  saved: FieldMappings | null,
): Map<string, string> {
  const types = new Map<string, string>();
  for (const { native_type, kind = 'card' } of blocks) {
    const chosen = saved?.[native_type]?.[TYPE_COLUMN];
    const key = chosen ?? (kind === 'card' ? guessType(metamodel, native_type) : undefined);
    if (key && metamodel.visibleTypes.includes(key)) types.set(native_type, key);
  }
  return types;
}

function guessBlock(
  metamodel: Metamodel,
  source: SourceType,
  block: SourceBlock,
  stands: Stands,
  types: ReadonlyMap<string, string>,
  targets: readonly TargetOption[],
): Map<string, string> {
  if (stands.kind === 'card') return guessColumns(metamodel, source, block, types);
  const heads = block.columns.map(({ key }) => key);
  const found = heads.map((key) => [key, guessOther(source, stands, key, targets, heads)] as const);
  return new Map(found.filter((one): one is readonly [string, string] => one[1] !== undefined));
}

/** What the columns of a block can be mapped to, and the block itself; the latter alone where nobody has said what it is. */
export function targetsOf(metamodel: Metamodel, stands: Stands | undefined): TargetOption[] {
  const own = columnTargets(metamodel, stands);
  const taken = new Set(own.map(({ key }) => key));
  return [...own, ...blockOptions(metamodel).filter(({ key }) => !taken.has(key))];
}

/** What the columns of a block can be mapped to. */
function columnTargets(metamodel: Metamodel, stands: Stands | undefined): TargetOption[] {
  if (!stands) return [];
  return stands.kind === 'card' ? cardTargets(metamodel, stands.type) : otherTargets(metamodel, stands);
}

/**
 * Columns that carry values and that nobody has said anything about. The type of a row has told its block already, and
 * rows that are no cards are found by what they hang on, and not by ids of their own.
 */
export function unmapped({ block, columns, stands }: MappedBlock, source: SourceType): SourceColumn[] {
  return block.columns.filter(({ key, values }) => {
    if (values === 0 || columns.has(key)) return false;
    if (source === 'leanix' && key === 'type') return false;
    return stands?.kind === 'card' || fold(key) !== 'id';
  });
}

/**
 * A mapping as it is to be saved, and what is wrong with it. Fields may be named without `attributes.`.
 * @param standing what a block stands for where nothing is saved.
 */
export function checkMappings(
  metamodel: Metamodel,
  blocks: readonly SourceBlock[],
  given: FieldMappings,
  standing: (native: string) => Stands | undefined,
): { mappings: FieldMappings; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const mappings: FieldMappings = {};
  const refuse = (path: string[], code: string, message: string) =>
    errors.push({ field: ['field_mappings', ...path].join('.'), code, message });
  for (const [name, columns] of Object.entries(given)) {
    const block = blockNamed(blocks, name, standing);
    if (!block) {
      refuse([name], 'unknown_type', 'is no kind of thing in the file');
      continue;
    }
    const checked: [string, string][] = [];
    const chosen = columns[TYPE_COLUMN];
    const leavesOut = chosen === LEFT_OUT;
    const stands = chosen === undefined ? standing(block.native_type) : standsFor(metamodel, chosen);
    if (chosen !== undefined && !leavesOut && !stands) {
      refuse([name, TYPE_COLUMN], 'unknown_type', 'is no card type, nor anything else that rows can become');
    }
    const known = new Set(columnTargets(metamodel, stands).map(({ key }) => key));
    const used = new Map<string, string>();
    for (const [column, target] of Object.entries(columns)) {
      if (column === TYPE_COLUMN) {
        checked.push([column, target]);
        continue;
      }
      const full = known.has(`attributes.${target}`) && !known.has(target) ? `attributes.${target}` : target;
      if (!block.columns.some(({ key }) => key === column)) {
        refuse([name, column], 'unknown_column', 'is no column of it');
      } else if (full !== LEFT_OUT && !known.has(full) && !isTagGroup(stands, full)) {
        refuse(
          [name, column],
          'unknown_target',
          stands ? `${keyOf(stands)} has no such field` : 'name first what it stands for, as $type',
        );
      } else if (full !== LEFT_OUT && !(stands?.kind === 'card' && takesMany(full)) && used.has(full)) {
        refuse([name, column], 'duplicate_target', `the column ${used.get(full)} is mapped to it as well`);
      } else {
        used.set(full, column);
        checked.push([column, full]);
      }
    }
    mappings[block.native_type] = Object.fromEntries([
      ...Object.entries(mappings[block.native_type] ?? {}),
      ...checked,
    ]);
  }
  return { mappings, errors };
}

/** Whether a target puts the tags of a column of cards into a group; one that is missing is made. */
function isTagGroup(stands: Stands | undefined, target: string): boolean {
  const group = stands?.kind === 'card' ? tagGroupOf(target) : undefined;
  return group !== undefined && group.length <= MAX_TAG;
}

/** The block of the name, or the only one that becomes what is called so. */
function blockNamed(
  blocks: readonly SourceBlock[],
  name: string,
  standing: (native: string) => Stands | undefined,
): SourceBlock | undefined {
  const named = blocks.find(({ native_type }) => native_type === name);
  if (named) return named;
  const targeted = blocks.filter(({ native_type }) => keyOf(standing(native_type)) === name);
  return targeted.length === 1 ? targeted[0] : undefined;
}
