import type { FieldError } from '../../../platform/errors.ts';
import type { CardType, CompiledField, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { MAX_TAG_NAME } from '../../kernel/metamodel/metamodel.model.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import { cardTypeFinder, guessColumn, guessType } from './mapping.guess.ts';
import {
  allowsSeveralColumns,
  isTags,
  LEFT_OUT,
  relationOf,
  TYPE_COLUMN,
  tagGroupOf,
  tagGroupTarget,
} from './mapping.targets.ts';
import type { FieldMappings } from './migration.list.ts';
import {
  blockOptions,
  columnTargets,
  describeTarget,
  guessRecordColumn,
  guessRowTarget,
  type RecordTarget,
  type RowTarget,
  rowTarget,
} from './record-kinds.ts';
import type { SourceBlock, SourceColumn, SourceType } from './source.types.ts';

/** A block with its mapping. */
export interface MappedBlock {
  block: SourceBlock;
  /** Undefined: the block is left out, on request or because its target is unknown. */
  target: RowTarget | undefined;
  /** The card type of a block of cards. */
  type: CardType | undefined;
  /** Whether the block is left out on request, or describes the other tool only. */
  leftOut: boolean;
  /** Targets by column; {@link LEFT_OUT} for a column that is left out. */
  columns: ReadonlyMap<string, string>;
  /** Columns whose target was derived from their name. */
  guessed: ReadonlySet<string>;
}

/** Maps all blocks: as saved, and by the names of columns that have no saved mapping. */
export function mapBlocks(
  metamodel: Metamodel,
  source: SourceType,
  blocks: readonly SourceBlock[],
  saved: FieldMappings | null,
): MappedBlock[] {
  const types = cardTypesOf(metamodel, blocks, saved);
  return blocks.map((block) => {
    const own = saved?.[block.native_type] ?? {};
    const chosen = own[TYPE_COLUMN];
    const leftOut = chosen === LEFT_OUT || (block.kind === 'about' && !chosen);
    const key = leftOut ? '' : (chosen ?? types.get(block.native_type));
    const target =
      key === undefined
        ? guessRowTarget(metamodel, block, cardTypeFinder(metamodel, types))
        : rowTarget(metamodel, key);
    const type = target?.kind === 'card' ? target.type : undefined;
    const columns = new Map<string, string>();
    const guessed = new Set<string>();
    if (!target) return { block, target, type, leftOut, columns, guessed };

    const targets = columnTargets(metamodel, target);
    const known = new Set(targets.map((one) => one.key));
    for (const [column, to] of Object.entries(own)) {
      if (column === TYPE_COLUMN) continue;
      if (to === LEFT_OUT || known.has(to) || isTagGroup(target, to)) columns.set(column, to);
    }
    const taken = new Set(columns.values());
    const heads = block.columns.map(({ key }) => key);
    for (const column of block.columns) {
      const to = type
        ? guessColumn({ metamodel, source, types, block, type }, column)
        : guessRecordColumn(source, target as RecordTarget, column.key, targets, heads);
      if (to === undefined || columns.has(column.key) || (block.own && !known.has(to))) continue;
      if (taken.has(to) && !allowsSeveralColumns(to)) continue;
      taken.add(to);
      columns.set(column.key, to);
      guessed.add(column.key);
    }
    return { block, target, type, leftOut, columns, guessed };
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
    const key =
      saved?.[native_type]?.[TYPE_COLUMN] ??
      (kind === 'card' ? guessType(metamodel, native_type) : undefined);
    if (key && metamodel.visibleTypes.includes(key)) types.set(native_type, key);
  }
  return types;
}

/**
 * Columns with values that have no mapping. The column `type` of a snapshot has determined the block, and the ids of rows
 * that are no cards are not needed.
 */
export function unmapped({ block, columns, target }: MappedBlock, source: SourceType): SourceColumn[] {
  return block.columns.filter(({ key, values }) => {
    if (values === 0 || columns.has(key)) return false;
    if ((source === 'leanix' || block.own) && key === 'type') return false;
    return target?.kind === 'card' || fold(key) !== 'id';
  });
}

/**
 * Validates a mapping, and adds the prefix `attributes.` to fields that are named without it.
 * @param defaultTarget the target of a block for which nothing is saved.
 */
export function checkMappings(
  metamodel: Metamodel,
  blocks: readonly SourceBlock[],
  given: FieldMappings,
  defaultTarget: (native: string) => RowTarget | undefined,
): { mappings: FieldMappings; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const mappings: FieldMappings = {};
  const refuse = (path: string[], code: string, message: string) =>
    errors.push({ field: ['field_mappings', ...path].join('.'), code, message });
  for (const [name, columns] of Object.entries(given)) {
    const block = blockNamed(blocks, name, defaultTarget);
    if (!block) {
      refuse([name], 'unknown_type', 'is no kind of thing in the file');
      continue;
    }
    const chosen = columns[TYPE_COLUMN];
    const target = chosen === undefined ? defaultTarget(block.native_type) : rowTarget(metamodel, chosen);
    if (chosen && !target) {
      refuse([name, TYPE_COLUMN], 'unknown_type', 'is no card type, nor anything else that rows can become');
    }
    const known = new Set(columnTargets(metamodel, target).map(({ key }) => key));
    const used = new Map<string, string>();
    const checked = new Map(Object.entries(mappings[block.native_type] ?? {}));
    for (const [column, sent] of Object.entries(columns)) {
      const to = known.has(`attributes.${sent}`) && !known.has(sent) ? `attributes.${sent}` : sent;
      if (column === TYPE_COLUMN) {
        checked.set(column, sent);
      } else if (!block.columns.some(({ key }) => key === column)) {
        refuse([name, column], 'unknown_column', 'is no column of it');
      } else if (to !== LEFT_OUT && !known.has(to) && !isTagGroup(target, to)) {
        const field = fieldOf(metamodel, target, to);
        if (field?.readonly) refuse([name, column], ...readonlyError(field));
        else {
          const message = target ? `${describeTarget(target).key} has no such field` : 'set $type first';
          refuse([name, column], 'unknown_target', message);
        }
      } else if (to !== LEFT_OUT && !allowsSeveralColumns(to) && used.has(to)) {
        refuse([name, column], 'duplicate_target', `the column ${used.get(to)} is mapped to it as well`);
      } else {
        used.set(to, column);
        checked.set(column, to);
      }
    }
    mappings[block.native_type] = Object.fromEntries(checked);
  }
  return { mappings, errors };
}

const readonlyError = ({ key, calculated }: CompiledField): [code: string, message: string] =>
  calculated
    ? ['calculated', `a formula computes ${key}: it cannot be imported`]
    : ['readonly', `the service sets ${key}: it cannot be imported`];

/** The field of a card or of its relations that a target names, also if it cannot be imported. */
function fieldOf(metamodel: Metamodel, target: RowTarget | undefined, to: string): CompiledField | undefined {
  if (target?.kind !== 'card') return undefined;
  const relation = relationOf(to);
  const fields = relation ? metamodel.relationTypes.get(relation.type)?.fields : target.type.fields;
  return fields?.get((relation?.part ?? to).replace(/^attributes\./, ''));
}

/** Why a column that is not mapped is left out, if a read-only field has its name. */
export function readonlyReason({ target }: MappedBlock, column: string): string | undefined {
  if (target?.kind !== 'card') return undefined;
  const field = [...target.type.fields.values()].find(
    (one) => one.readonly && [one.key, one.label].some((name) => fold(name) === fold(column)),
  );
  return field && readonlyError(field)[1];
}

/** Whether a target puts the tags of a column of cards into a group, which is created if it is missing. */
function isTagGroup(target: RowTarget | undefined, to: string): boolean {
  const group = target?.kind === 'card' ? tagGroupOf(to) : undefined;
  return group !== undefined && group.length <= MAX_TAG_NAME;
}

/** The block with the name, or the only one with this target. */
function blockNamed(
  blocks: readonly SourceBlock[],
  name: string,
  defaultTarget: (native: string) => RowTarget | undefined,
): SourceBlock | undefined {
  const named = blocks.find(({ native_type }) => native_type === name);
  if (named) return named;
  const targeted = blocks.filter(
    ({ native_type }) => describeTarget(defaultTarget(native_type)).key === name,
  );
  return targeted.length === 1 ? targeted[0] : undefined;
}

/** What the columns of mapped blocks can be mapped to, and what they are mapped to; the first row of a block is its type. */
export function mappingOptions(
  metamodel: Metamodel,
  mapped: readonly MappedBlock[],
  tagGroups: readonly string[],
) {
  const auto = new Map<string, { source_column: string; card_target: string }>();
  const blocks = mapped.map(({ block, target, type, columns, guessed }) => {
    const own = columnTargets(metamodel, target);
    const taken = new Set(own.map(({ key }) => key));
    const targets = [
      ...own,
      ...blockOptions(metamodel).filter(({ key }) => !taken.has(key)),
      ...(type ? tagGroups.map(tagGroupTarget) : []),
    ];
    const { key, label } = describeTarget(target);
    const target_card_type = type?.key ?? '';
    for (const column of guessed) {
      const card_target = columns.get(column)!;
      auto.set(JSON.stringify([column, card_target]), { source_column: column, card_target });
    }
    // tags also if their group does not exist yet
    const typeOf = (to: string) =>
      isTags(to) ? 'tags' : (targets.find((one) => one.key === to)?.type ?? null);
    const itself = {
      source_field_key: TYPE_COLUMN,
      label: 'What a row is' as string | null,
      native_data_type: 'text',
      field_type: 'card_type' as string | null,
      target_card_type,
      mapped_to: key,
      values: block.rows,
    };
    const fields = block.columns.map((column): typeof itself => {
      const mapped_to = columns.get(column.key) ?? null;
      return {
        source_field_key: column.key,
        label: column.label,
        native_data_type: column.data_type,
        field_type: mapped_to === null ? null : typeOf(mapped_to),
        target_card_type,
        mapped_to,
        values: column.values,
      };
    });
    return {
      native_type: block.native_type,
      target_card_type,
      target_type_label: label,
      source_fields: [itself, ...fields],
      available_targets: targets,
    };
  });
  return { blocks, auto_mapped_columns: [...auto.values()] };
}
