import { useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { valueAt } from '../../kit/saveCard.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { EditableField } from './EditableField.tsx';
import { useFieldMarks, useSources } from './marks.tsx';

/** Empty fields beyond this many are folded. */
const EMPTY_SHOWN = 3;

export interface Section {
  section: string;
  label: string;
  fields: Field[];
  columns?: number;
  isOpen: boolean;
}

/** The sections of the card's type as the type shows them: in its order, without hidden ones and fields that the subtype has not. */
export function useSections(): Section[] {
  const { card } = useCard();
  const { type: typeOf, sections, label } = useMetamodel();
  const type = typeOf(card.type);
  const config = (type?.section_config ?? {}) as Record<
    string,
    { defaultExpanded?: boolean; hidden?: boolean }
  >;
  const order = (config.__order ?? []) as unknown as string[];
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const subtype = type?.subtypes.find(({ key }) => key === card.subtype);
  const hidden = new Set((subtype as { hidden_fields?: string[] } | undefined)?.hidden_fields);
  return sections(card.type)
    .filter(({ section }) => !config[section]?.hidden)
    .map((section) => ({
      ...section,
      label: label({ label: section.section, translations: section.translations }),
      fields: section.fields.filter(({ key }) => !hidden.has(key)),
      isOpen: config[section.section]?.defaultExpanded !== false,
    }))
    .filter(({ fields }) => fields.length > 0)
    .sort((a, b) => place(a.section) - place(b.section));
}

/** A section of the metamodel with its fields. Empty ones that nothing demands are folded. */
export function SectionPanel({ section }: { section: Section }) {
  const t = useTexts();
  const { percent } = useFormat();
  const { card, can } = useCard();
  const [isOpen, setOpen] = useState(section.isOpen);
  const [isWhole, setWhole] = useState(false);
  const marks = useFieldMarks();
  const sources = useSources();
  const synced = section.fields.flatMap(({ key }) => sources.get(`attributes.${key}`) ?? []);
  const isEmpty = ({ key }: Field) => {
    const value = valueAt(card, `attributes.${key}`);
    return value === null || value === '' || (Array.isArray(value) && value.length === 0);
  };
  const visible = section.fields.filter(({ type }) => type !== 'cost' || can('view_costs'));
  const empty = visible.filter((field) => isEmpty(field));
  const optional = empty.filter(({ required }) => !required);
  const folded = optional.length > EMPTY_SHOWN && !isWhole ? new Set(optional.slice(EMPTY_SHOWN)) : new Set();
  const shown = visible.filter((field) => !folded.has(field));
  const hasHidden = visible.length < section.fields.length;
  return (
    <section className={styles.panel} aria-label={section.label}>
      <h2>
        <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {section.label}
          <Icon name={isOpen ? 'keyboard_arrow_down' : 'keyboard_arrow_right'} />
        </button>
        <span className={styles.filled}>
          {synced.length > 0 && `${t('sources.count', { count: synced.length, name: synced[0]!.source })} · `}
          {visible.length > 0 &&
            t('card.filled', { percent: percent((100 * (visible.length - empty.length)) / visible.length) })}
        </span>
      </h2>
      {isOpen && (
        <>
          <div className={styles.fields} data-columns={section.columns}>
            {shown.map((field) => (
              <EditableField
                key={field.key}
                field={field}
                path={`attributes.${field.key}`}
                mark={marks(field)}
                isFixed={marks.isFixed(field)}
              />
            ))}
          </div>
          {folded.size > 0 && (
            <button type="button" className={styles.moreButton} onClick={() => setWhole(true)}>
              {t('card.moreFields', { count: folded.size })}
            </button>
          )}
          {hasHidden && <p className="secondary">{t('card.costsHidden')}</p>}
        </>
      )}
    </section>
  );
}
