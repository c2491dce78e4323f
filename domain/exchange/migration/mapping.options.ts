import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { keyOf, labelOf } from './mapping.stands.ts';
import { isTags, type TargetOption, TYPE_COLUMN, tagGroupTarget } from './mapping.targets.ts';
import { type MappedBlock, targetsOf } from './mapping.ts';

/** A column with what it is mapped to. */
interface SourceField {
  source_field_key: string;
  label: string | null;
  native_data_type: string | null;
  field_type: string | null;
  target_card_type: string;
  /** Null: nobody has said; an empty text: it is left out. */
  mapped_to: string | null;
  /** Cells that are not empty. */
  values: number;
}

/** What can be chosen for the columns of a file. */
export interface MappingOptions {
  blocks: {
    native_type: string;
    target_card_type: string;
    target_type_label: string;
    source_fields: SourceField[];
    available_targets: TargetOption[];
  }[];
  /** Columns that were recognised by their names. */
  auto_mapped_columns: { source_column: string; card_target: string }[];
}

/** The type of a target; of tags also where their group does not exist yet. */
function fieldType(targets: readonly TargetOption[], target: string): string | null {
  return isTags(target) ? 'tags' : (targets.find(({ key }) => key === target)?.type ?? null);
}

/** The choices for mapped blocks; the first row of each block is its card type. */
export function mappingOptions(
  metamodel: Metamodel,
  mapped: readonly MappedBlock[],
  tagGroups: readonly string[],
): MappingOptions {
  const auto = new Map<string, { source_column: string; card_target: string }>();
  const blocks = mapped.map(({ block, stands, type, columns, guessed }) => {
    const targets = [...targetsOf(metamodel, stands), ...(type ? tagGroups.map(tagGroupTarget) : [])];
    const target_card_type = type?.key ?? '';
    for (const column of guessed) {
      const card_target = columns.get(column)!;
      auto.set(JSON.stringify([column, card_target]), { source_column: column, card_target });
    }
    const itself: SourceField = {
      source_field_key: TYPE_COLUMN,
      label: 'What a row is',
      native_data_type: 'text',
      field_type: 'card_type',
      target_card_type,
      mapped_to: keyOf(stands),
      values: block.rows,
    };
    const fields = block.columns.map(({ key, label, values, data_type }): SourceField => {
      const mapped_to = columns.get(key) ?? null;
      return {
        source_field_key: key,
        label,
        native_data_type: data_type,
        field_type: mapped_to === null ? null : fieldType(targets, mapped_to),
        target_card_type,
        mapped_to,
        values,
      };
    });
    return {
      native_type: block.native_type,
      target_card_type,
      target_type_label: labelOf(stands),
      source_fields: [itself, ...fields],
      available_targets: targets,
    };
  });
  return { blocks, auto_mapped_columns: [...auto.values()] };
}
