import type { QueryDimension, QueryMeasure } from '../../../domain/inventory/reports/report.job.ts';
import type { CompiledField, Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { phaseKeys, phaseLabel } from '../../kernel/charts/charts.labels.ts';
import type { PhaseKey } from '../../kernel/charts/charts.tokens.ts';
import type { Paint } from '../../kernel/charts/charts.types.ts';
import type { ShownField } from './query.fields.ts';
import type { QueryColumn } from './query.plan.ts';

type Named = Pick<Metamodel, 'cardTypes' | 'relationTypes'>;

/** The label of a group without a value. */
const NOT_SET = 'No value';

const words = (key: string): string => {
  const text = key.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** The declared field, of the first type that has it. */
function fieldOf(metamodel: Named, { target, of }: ShownField): CompiledField | undefined {
  if (target?.kind !== 'attribute') return undefined;
  if ('relation' in of) return metamodel.relationTypes.get(of.relation)?.fields.get(target.key);
  for (const type of of.cards) {
    const field = metamodel.cardTypes.get(type)?.fields.get(target.key);
    if (field) return field;
  }
  return undefined;
}

/** The title of the field without its path. */
function ownTitle(metamodel: Named, shows: ShownField): string {
  const { target } = shows;
  if (shows.isPhase) return 'Lifecycle phase';
  switch (target?.kind) {
    case undefined:
      return 'Relations';
    case 'column':
      return words(target.column);
    case 'attribute':
      return fieldOf(metamodel, shows)?.label ?? words(target.key);
    case 'lifecycle':
      return phaseLabel(target.phase);
    case 'phase':
      return 'Lifecycle phase';
    case 'tags':
      return target.group?.name ?? 'Tags';
    case 'flow':
      return words(target.column);
    case 'people':
      return target.role === undefined ? 'Stakeholders' : words(target.role);
  }
}

/** The title of a field; for a path with relations it includes the type at the other end. */
function titleOf(metamodel: Named, shows: ShownField): string {
  const own = ownTitle(metamodel, shows);
  if (!shows.isFar) return own;
  if ('relation' in shows.of) {
    const type = metamodel.relationTypes.get(shows.of.relation);
    const end = (key: string | undefined) => metamodel.cardTypes.get(key ?? '')?.label ?? key;
    return `${own} of ${end(type?.source_type_key)} to ${end(type?.target_type_key)}`;
  }
  const types = [...shows.of.cards].map((key) => metamodel.cardTypes.get(key)?.label ?? key).join(', ');
  if (shows.target?.kind === 'column' && shows.target.column === 'name') return types;
  return shows.target || shows.isPhase ? `${own} of ${types}` : types;
}

/** The title of a dimension: its given name, or its field. */
export function dimensionTitle(metamodel: Named, asked: QueryDimension, { shows }: QueryColumn): string {
  const title = asked.as ?? titleOf(metamodel, shows!);
  return asked.bucket && asked.as === undefined ? `${title} (${asked.bucket})` : title;
}

/** The title of a measure: its given name, or its function and field. */
export function measureTitle(metamodel: Named, asked: QueryMeasure, { shows, type }: QueryColumn): string {
  if (asked.as !== undefined) return asked.as;
  if (!shows) return 'Cards';
  const title = titleOf(metamodel, shows);
  const isTime = type === 'date' || type === 'datetime';
  switch (asked.fn) {
    case 'count':
      return shows.target || shows.isPhase ? `With ${title}` : title;
    case 'distinct':
      return `Different ${title}`;
    case 'sum':
      return `Sum of ${title}`;
    case 'avg':
      return `Average of ${title}`;
    case 'min':
      return `${isTime ? 'Earliest' : 'Least'} ${title}`;
    case 'max':
      return `${isTime ? 'Latest' : 'Greatest'} ${title}`;
    case 'percentile':
      return asked.p === 0.5 ? `Median of ${title}` : `${title}, quantile ${asked.p}`;
  }
}

/** The label of a dimension's value: of an option, type or phase. */
export function valueTitle(metamodel: Named, { shows }: QueryColumn, value: unknown): string {
  if (value === null || value === undefined || value === '') return NOT_SET;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const key = String(value);
  if (!shows) return key;
  if (shows.isPhase) return phaseLabel(key);
  const { target, of } = shows;
  if (target?.kind === 'attribute') return fieldOf(metamodel, shows)?.optionLabels.get(key) ?? key;
  if (target?.kind !== 'column') return key;
  if (target.column === 'type') return metamodel.cardTypes.get(key)?.label ?? key;
  if (target.column === 'subtype' && 'cards' in of) {
    for (const type of of.cards) {
      const subtype = metamodel.cardTypes.get(type)?.subtypes.find((one) => one.key === key);
      if (subtype) return subtype.label;
    }
  }
  if (target.column === 'status' || target.column === 'approval_status') return words(key.toLowerCase());
  return key;
}

/** The sort position of a value: options and phases in the order of the metamodel, others last. */
export function valueOrder(metamodel: Named, { shows }: QueryColumn, value: unknown): number {
  if (!shows) return 0;
  const keys = shows.isPhase ? lifecyclePhases : [...(fieldOf(metamodel, shows)?.optionLabels.keys() ?? [])];
  const place = keys.indexOf(String(value) as never);
  return place < 0 ? keys.length : place;
}

/** What a value stands for in charts: an option, a phase or a type; undefined for others. */
export function valuePaint(metamodel: Named, { shows }: QueryColumn, value: unknown): Paint | undefined {
  if (value === null || value === undefined || value === '') return 'none';
  const key = String(value);
  if (!shows) return undefined;
  if (shows.isPhase) return phaseKeys.some((phase) => phase === key) ? { phase: key as PhaseKey } : undefined;
  const { target } = shows;
  const option = target?.kind === 'attribute' ? fieldOf(metamodel, shows)?.optionColors.get(key) : undefined;
  if (option !== undefined) return { option };
  const color =
    target?.kind === 'column' && target.column === 'type' ? metamodel.cardTypes.get(key)?.color : undefined;
  return color === undefined ? undefined : { type: color };
}
