import { TextInput } from '@mantine/core';
import { type ReactNode, useDeferredValue, useState } from 'react';
import type { CountCardFacetsResponse } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { optionMark } from '../../kit/FieldInput.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { useColumns } from './columns.tsx';
import { useCounts } from './counts.ts';
import styles from './facets.module.css';
import { chosenOf, partsOf, toggled } from './filter.ts';
import type { InventorySearch } from './inventory.search.ts';
import { selectionOf } from './rows.ts';

/** Values of a facet that are shown at once. */
const SHOWN = 7;
/** Fields with options that have a facet. */
const FIELDS = 8;

type Facet = CountCardFacetsResponse['facets'][number];

/** One group of the facets. */
interface FacetSource {
  /** In the filter language. */
  field: string;
  /** As the service counts it. */
  facet: string;
  title: string;
  /** Of an attribute, with its options in order. */
  attribute?: Field;
  /** Counted only when it is opened. */
  isLater?: boolean;
}

const fixedTitles: Record<string, MessageKey> = {
  type: 'field.type',
  subtype: 'field.subtype',
  phase: 'field.phase',
  approval_status: 'field.approval',
  tags: 'field.tags',
  stakeholder: 'field.people',
};

/** The facets of a type: what every card has, the fields with options, and the relations. */
function useFacetSources(type: string | undefined): FacetSource[] {
  const t = useTexts();
  const { sections, label, type: typeOf } = useMetamodel();
  const { permissions } = useMe();
  const fixed = (field: string): FacetSource => ({
    field,
    facet: field === 'phase' ? 'lifecycle_phase' : field,
    title: t(fixedTitles[field]!),
  });
  const relations = useColumns(type).flatMap(({ key, title, relation }) =>
    relation ? [{ field: `${key}.id`, facet: `relations.${relation.type}`, title, isLater: true }] : [],
  );
  const people = isAllowed(permissions, 'stakeholders.view') ? [fixed('stakeholder')] : [];
  if (!type) return [...['type', 'phase', 'approval_status', 'tags'].map(fixed), ...people];
  const fields = sections(type)
    .flatMap((section) => section.fields)
    .filter(({ options, type: kind }) => (options?.length ?? 0) > 0 || kind === 'boolean')
    .slice(0, FIELDS);
  return [
    ...((typeOf(type)?.subtypes.length ?? 0) > 0 ? [fixed('subtype')] : []),
    fixed('phase'),
    ...fields.map((attribute) => {
      const field = `attributes.${attribute.key}`;
      return { field, facet: field, title: label(attribute), attribute };
    }),
    fixed('approval_status'),
    fixed('tags'),
    ...people,
    ...relations,
  ];
}

/** Counts of the values of the filtered cards: the service leaves out the conditions on a facet itself. */
function useFacets(search: InventorySearch, facets: readonly string[]) {
  const query = { facets: facets.join(','), ...selectionOf(search) };
  const { data, error, refetch } = useCounts(query, facets.length > 0);
  // the rows of the table are drawn first
  const shown = useDeferredValue(data);
  return { found: new Map(shown?.facets.map((facet) => [facet.facet, facet])), error, refetch };
}

interface FacetsProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
}

/** The facets of the filtered cards, with counts. */
export function Facets({ search, onChange }: FacetsProps) {
  const t = useTexts();
  const sources = useFacetSources(search.type);
  const facets = useFacets(
    search,
    sources.filter(({ isLater }) => !isLater).map(({ facet }) => facet),
  );
  const flag = (member: 'mine' | 'archived', text: string) => (
    <label className={styles.value}>
      <input
        type="checkbox"
        checked={search[member] === true}
        onChange={(event) => onChange({ ...search, [member]: event.target.checked || undefined })}
      />
      {text}
    </label>
  );
  return (
    <div className={styles.facets} role="group" aria-label={t('facets.title')}>
      <section className={styles.group}>
        {flag('mine', t('facets.mine'))}
        {flag('archived', t('facets.archived'))}
      </section>
      {facets.error && <Failure error={facets.error} onRetry={facets.refetch} />}
      {sources.map((source) => (
        <FacetGroup
          key={source.field}
          source={source}
          counted={facets.found.get(source.facet)}
          search={search}
          onChange={onChange}
        />
      ))}
    </div>
  );
}

interface FacetGroupProps extends FacetsProps {
  source: FacetSource;
  counted: Facet | undefined;
}

function FacetGroup({ source, counted, search, onChange }: FacetGroupProps) {
  const t = useTexts();
  const { field, title, attribute, isLater = false } = source;
  const { chosen, excluded } = chosenOf(partsOf(search.filter), field);
  const isUsed = chosen.length + excluded.length > 0;
  const [isOpen, setOpen] = useState(!isLater || isUsed);
  const [isWhole, setWhole] = useState(false);
  const [text, setText] = useState('');
  const valueText = useValueText();
  const own = useFacets(search, isLater && isOpen ? [source.facet] : []).found.get(source.facet);
  const facet = isLater ? own : counted;
  if (!isLater && (!facet || (facet.values.length === 0 && !isUsed))) return null;
  const order = new Map(attribute?.options?.map((option, at) => [option.key, at]));
  const named = (facet?.values ?? []).map((one) => ({
    ...one,
    // the filter language names tags by their group
    key: field === 'tags' && one.group ? `${one.group}/${one.label}` : one.value,
    text: valueText(source, one.value, one.label),
  }));
  const isChosen = (key: string) => chosen.includes(key) || excluded.includes(key);
  const sorted = named.toSorted(
    (a, b) =>
      (named.length > SHOWN ? Number(isChosen(b.key)) - Number(isChosen(a.key)) : 0) ||
      (order.get(a.value) ?? 0) - (order.get(b.value) ?? 0),
  );
  const found = sorted.filter((one) => one.text.toLowerCase().includes(text.trim().toLowerCase()));
  const shown = isWhole || text ? found : found.slice(0, SHOWN);
  const line = (value: string | null, count: number, content: ReactNode) => (
    <FacetLine
      key={value ?? ''}
      count={count}
      isChosen={chosen.includes(value)}
      isExcluded={excluded.includes(value)}
      onToggle={(excludes) => onChange({ ...search, filter: toggled(search.filter, field, value, excludes) })}
    >
      {content}
    </FacetLine>
  );
  return (
    <section className={styles.group}>
      <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {title}
        <Icon name={isOpen ? 'keyboard_arrow_down' : 'keyboard_arrow_right'} />
      </button>
      {isOpen && (
        <>
          {isWhole && (
            <TextInput
              aria-label={t('facets.find', { facet: title })}
              placeholder={t('facets.find', { facet: title })}
              className={styles.find}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
          <div className={styles.values}>
            {shown.map(({ key, value, count, text: plain }) =>
              line(key, count, attribute?.options ? optionMark(attribute, value) : plain),
            )}
            {facet &&
              facet.without > 0 &&
              field !== 'type' &&
              line(null, facet.without, <i>{t(field === 'phase' ? 'phase.none' : 'facets.without')}</i>)}
          </div>
          {named.length > SHOWN && (
            <button
              type="button"
              className={styles.more}
              onClick={() => {
                setWhole(!isWhole);
                setText('');
              }}
            >
              {isWhole ? t('facets.less') : t('facets.more', { count: named.length - SHOWN })}
            </button>
          )}
        </>
      )}
    </section>
  );
}

interface FacetLineProps {
  count: number;
  isChosen: boolean;
  isExcluded: boolean;
  onToggle(excludes: boolean): void;
  children: ReactNode;
}

/** A value of a facet; with Alt its cards are excluded. */
function FacetLine({ count, isChosen, isExcluded, onToggle, children }: FacetLineProps) {
  const t = useTexts();
  const { number } = useFormat();
  return (
    <label className={styles.value} title={t('facets.excludeHelp')} data-excluded={isExcluded}>
      <input
        type="checkbox"
        ref={(box) => {
          if (box) box.indeterminate = isExcluded;
        }}
        checked={isChosen}
        onChange={({ nativeEvent }) =>
          onToggle(isExcluded || (nativeEvent instanceof MouseEvent && nativeEvent.altKey))
        }
      />
      <span className={styles.text}>{children}</span>
      {isExcluded && <span className="visually-hidden">{t('facets.excluded')}</span>}
      <span className={styles.count}>{number(count)}</span>
    </label>
  );
}

/** The text of a value. */
function useValueText() {
  const t = useTexts();
  const { type, types, label } = useMetamodel();
  const texts: Record<string, MessageKey> = {
    plan: 'phase.plan',
    phaseIn: 'phase.phaseIn',
    active: 'phase.active',
    phaseOut: 'phase.phaseOut',
    endOfLife: 'phase.endOfLife',
    DRAFT: 'approval.draft',
    APPROVED: 'approval.approved',
    BROKEN: 'approval.broken',
    REJECTED: 'approval.rejected',
    true: 'value.yes',
    false: 'value.no',
  };
  return ({ field, attribute }: FacetSource, value: string, own: string | null): string => {
    if (field === 'type') {
      const found = type(value);
      return found ? label(found) : value;
    }
    if (field === 'subtype') {
      const subtypes = types.flatMap((one) => one.subtypes);
      const found = subtypes.find(({ key }) => key === value);
      return found ? label(found as { label: string }) : value;
    }
    const option = attribute?.options?.find(({ key }) => key === value);
    if (option) return label(option);
    const isKnown = field === 'phase' || field === 'approval_status' || attribute?.type === 'boolean';
    const key = isKnown ? texts[value] : undefined;
    return key ? t(key) : (own ?? value);
  };
}
