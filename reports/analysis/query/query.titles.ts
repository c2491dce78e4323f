import type { QueryDimension, QueryMeasure } from '../../../domain/inventory/reports/report.job.ts';
import type { CompiledField, Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { phaseKeys, phaseLabel } from '../../kernel/charts/charts.labels.ts';
import type { InLanguage } from '../../kernel/charts/charts.texts.ts';
import type { PhaseKey } from '../../kernel/charts/charts.tokens.ts';
import type { Paint } from '../../kernel/charts/charts.types.ts';
import { reportText } from '../../kernel/report.texts.ts';
import type { CostPeriod, ShownField } from './query.fields.ts';
import type { QueryColumn } from './query.plan.ts';

/** The types with their labels, and the language of titles; default: English. */
export type NamedMetamodel = Pick<Metamodel, 'cardTypes' | 'relationTypes'> & InLanguage;

const words = (key: string): string => {
  const text = key.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** The declared field, of the first type that has it. */
function fieldOf(metamodel: NamedMetamodel, { target, of }: ShownField): CompiledField | undefined {
  if (target?.kind !== 'attribute') return undefined;
  if ('relation' in of) return metamodel.relationTypes.get(of.relation)?.fields.get(target.key);
  for (const type of of.cards) {
    const field = metamodel.cardTypes.get(type)?.fields.get(target.key);
    if (field) return field;
  }
  return undefined;
}

/** The costs of a year, of a kind. */
const costsTitle = (texts: InLanguage, { year, kind }: CostPeriod): string =>
  kind === undefined
    ? reportText(texts, 'query.costs', { year: String(year) })
    : reportText(texts, 'query.costsOfKind', { year: String(year), kind: words(kind) });

/** The title of the field without its path. */
function ownTitle(metamodel: NamedMetamodel, shows: ShownField): string {
  const { target } = shows;
  if (shows.isPhase) return reportText(metamodel, 'query.phase');
  if (shows.costs) return costsTitle(metamodel, shows.costs);
  switch (target?.kind) {
    case undefined:
      return reportText(metamodel, 'query.relations');
    case 'column':
      return words(target.column);
    case 'attribute':
      return fieldOf(metamodel, shows)?.label ?? words(target.key);
    case 'lifecycle':
      return phaseLabel(target.phase, metamodel);
    case 'phase':
      return reportText(metamodel, 'query.phase');
    case 'tags':
      return target.group?.name ?? reportText(metamodel, 'query.tags');
    case 'flow':
      return words(target.column);
    case 'people':
      return target.role === undefined ? reportText(metamodel, 'query.stakeholders') : words(target.role);
  }
}

/** The title of a field; for a path with relations it includes the type at the other end. */
function titleOf(metamodel: NamedMetamodel, shows: ShownField): string {
  const own = ownTitle(metamodel, shows);
  if (!shows.isFar) return own;
  if ('relation' in shows.of) {
    const type = metamodel.relationTypes.get(shows.of.relation);
    const end = (key: string | undefined) => metamodel.cardTypes.get(key ?? '')?.label ?? String(key);
    const ends = { source: end(type?.source_type_key), target: end(type?.target_type_key) };
    return reportText(metamodel, 'query.between', { field: own, ...ends });
  }
  const types = [...shows.of.cards].map((key) => metamodel.cardTypes.get(key)?.label ?? key).join(', ');
  if (shows.target?.kind === 'column' && shows.target.column === 'name') return types;
  return shows.target || shows.isPhase || shows.costs
    ? reportText(metamodel, 'query.of', { field: own, types })
    : types;
}

/** The title of a dimension: its given name, or its field. */
export function dimensionTitle(
  metamodel: NamedMetamodel,
  asked: QueryDimension,
  { shows }: QueryColumn,
): string {
  const title = asked.as ?? titleOf(metamodel, shows!);
  return asked.bucket && asked.as === undefined
    ? reportText(metamodel, 'query.bucket', { title, bucket: asked.bucket })
    : title;
}

/** The title of a measure: its given name, or its function and field. */
export function measureTitle(
  metamodel: NamedMetamodel,
  asked: QueryMeasure,
  { shows, type }: QueryColumn,
): string {
  if (asked.as !== undefined) return asked.as;
  if (!shows) return reportText(metamodel, 'query.cards');
  const title = titleOf(metamodel, shows);
  const isTime = type === 'date' || type === 'datetime';
  switch (asked.fn) {
    case 'count':
      return shows.target || shows.isPhase || shows.costs
        ? reportText(metamodel, 'query.with', { title })
        : title;
    case 'distinct':
      return reportText(metamodel, 'query.distinct', { title });
    case 'sum':
      return reportText(metamodel, 'query.sum', { title });
    case 'avg':
      return reportText(metamodel, 'query.avg', { title });
    case 'min':
      return reportText(metamodel, isTime ? 'query.earliest' : 'query.least', { title });
    case 'max':
      return reportText(metamodel, isTime ? 'query.latest' : 'query.greatest', { title });
    case 'percentile':
      return asked.p === 0.5
        ? reportText(metamodel, 'query.median', { title })
        : reportText(metamodel, 'query.quantile', { title, p: asked.p! });
  }
}

/** The label of a dimension's value: of an option, type or phase. */
export function valueTitle(metamodel: NamedMetamodel, { shows }: QueryColumn, value: unknown): string {
  if (value === null || value === undefined || value === '') return reportText(metamodel, 'query.noValue');
  if (typeof value === 'boolean') return reportText(metamodel, value ? 'query.yes' : 'query.no');
  const key = String(value);
  if (!shows) return key;
  if (shows.isPhase) return phaseLabel(key, metamodel);
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
export function valueOrder(metamodel: NamedMetamodel, { shows }: QueryColumn, value: unknown): number {
  if (!shows) return 0;
  const keys = shows.isPhase ? lifecyclePhases : [...(fieldOf(metamodel, shows)?.optionLabels.keys() ?? [])];
  const place = keys.indexOf(String(value) as never);
  return place < 0 ? keys.length : place;
}

/** What a value stands for in charts: an option, a phase or a type; undefined for others. */
export function valuePaint(
  metamodel: NamedMetamodel,
  { shows }: QueryColumn,
  value: unknown,
): Paint | undefined {
  if (value === null || value === undefined || value === '') return 'none';
  const key = String(value);
  if (!shows) return undefined;
  if (shows.isPhase) return phaseKeys.some((phase) => phase === key) ? { phase: key as PhaseKey } : 'none';
  const { target } = shows;
  const option = target?.kind === 'attribute' ? fieldOf(metamodel, shows)?.optionColors.get(key) : undefined;
  if (option !== undefined) return { option };
  const color =
    target?.kind === 'column' && target.column === 'type' ? metamodel.cardTypes.get(key)?.color : undefined;
  return color === undefined ? undefined : { type: color };
}
