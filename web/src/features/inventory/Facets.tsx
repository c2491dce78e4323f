import { Checkbox } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type CountCardFacetsResponse, call, countCardFacets } from '#client';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { OptionMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import styles from './facets.module.css';
import { chosenOf, partsOf, toggled } from './filter.ts';
import type { InventorySearch } from './inventory.search.ts';
import { selectionOf } from './rows.ts';

/** Values of a facet that are shown at once. */
const SHOWN = 7;

type Facet = CountCardFacetsResponse['facets'][number];

const fixedTitles: Record<string, MessageKey> = {
  type: 'field.type',
  subtype: 'field.subtype',
  phase: 'field.phase',
  approval_status: 'field.approval',
  tags: 'field.tags',
};

/** The facet of a field of the filter language. */
const facetOf = (field: string): string => (field === 'phase' ? 'lifecycle_phase' : field);

/** The facets of a type: what every card has, and the fields with options. */
function useFacetNames(type: string | undefined): { name: string; field?: Field }[] {
  const { sections } = useMetamodel();
  if (!type) return [{ name: 'type' }, { name: 'phase' }, { name: 'approval_status' }, { name: 'tags' }];
  const fields = sections(type)
    .flatMap((section) => section.fields)
    .filter(({ options }) => options && options.length > 0)
    .slice(0, 8);
  return [
    { name: 'phase' },
    ...fields.map((field) => ({ name: `attributes.${field.key}`, field })),
    { name: 'approval_status' },
    { name: 'tags' },
  ];
}

/** Counts of the values of the filtered cards: the service leaves out the conditions on a facet itself. */
function useFacets(search: InventorySearch, names: readonly string[]): Map<string, Facet> {
  const query = {
    facets: names.map(facetOf).join(','),
    ...selectionOf(search),
  };
  const { data } = useQuery({
    queryKey: ['facets', query],
    queryFn: ({ signal }) => call(countCardFacets({ signal, query })),
    placeholderData: keepPreviousData,
  });
  return new Map(data?.facets.map((facet) => [facet.facet, facet]));
}

interface FacetsProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
}

/** The facets of the filtered cards, with counts. */
export function Facets({ search, onChange }: FacetsProps) {
  const t = useTexts();
  const names = useFacetNames(search.type);
  const facets = useFacets(
    search,
    names.map(({ name }) => name),
  );
  const parts = partsOf(search.filter);
  return (
    <aside className={styles.facets} aria-label={t('facets.title')}>
      {names.map(({ name, field }) => {
        const facet = facets.get(facetOf(name));
        if (!facet || (facet.values.length === 0 && chosenOf(parts, name).chosen.length === 0)) return null;
        return (
          <FacetGroup
            key={name}
            name={name}
            facet={facet}
            field={field}
            search={search}
            onChange={onChange}
          />
        );
      })}
    </aside>
  );
}

interface FacetGroupProps extends FacetsProps {
  /** In the filter language. */
  name: string;
  facet: Facet;
  field: Field | undefined;
}

function FacetGroup({ name, facet, field, search, onChange }: FacetGroupProps) {
  const t = useTexts();
  const { label } = useMetamodel();
  const { number } = useFormat();
  const valueText = useValueText();
  const [isOpen, setOpen] = useState(true);
  const [isWhole, setWhole] = useState(false);
  const title = field ? label(field) : t(fixedTitles[name] ?? 'field.type');
  const { chosen } = chosenOf(partsOf(search.filter), name);
  const order = new Map(field?.options?.map((option, at) => [option.key, at]));
  const values = [...facet.values].sort((a, b) => (order.get(a.value) ?? 0) - (order.get(b.value) ?? 0));
  const shown = isWhole ? values : values.slice(0, SHOWN);
  const line = (value: string | null, count: number, text: React.ReactNode) => (
    <Checkbox
      key={value ?? ''}
      classNames={{ body: styles.value, labelWrapper: styles.label, label: styles.label }}
      checked={chosen.includes(value)}
      onChange={() => onChange({ ...search, filter: toggled(search.filter, name, value) })}
      label={
        <span className={styles.line}>
          <span className={styles.text}>{text}</span>
          <span className={styles.count}>{number(count)}</span>
        </span>
      }
    />
  );
  return (
    <section className={styles.group}>
      <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {title}
        <Icon name={isOpen ? 'keyboard_arrow_down' : 'keyboard_arrow_right'} />
      </button>
      {isOpen && (
        <>
          {shown.map(({ value, count, label: own, group }) => {
            const option = field?.options?.find(({ key }) => key === value);
            const at = option ? field!.options!.indexOf(option) : 0;
            return line(
              name === 'tags' && group ? `${group}/${value}` : value,
              count,
              option ? (
                <OptionMark option={option} field={field!.key} step={field!.options!.length - at} />
              ) : (
                valueText(name, value, own)
              ),
            );
          })}
          {facet.without > 0 && name !== 'type' && line(null, facet.without, <i>{t('facets.without')}</i>)}
          {values.length > SHOWN && (
            <button type="button" className={styles.more} onClick={() => setWhole(!isWhole)}>
              {isWhole ? t('facets.less') : t('facets.more', { count: values.length - SHOWN })}
            </button>
          )}
        </>
      )}
    </section>
  );
}

/** The text of a value that is no option of a field. */
function useValueText() {
  const t = useTexts();
  const { type, label } = useMetamodel();
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
  };
  return (facet: string, value: string, own: string | null): string => {
    if (facet === 'type') {
      const found = type(value);
      return found ? label(found) : value;
    }
    const key = facet === 'phase' || facet === 'approval_status' ? texts[value] : undefined;
    return key ? t(key) : (own ?? value);
  };
}
