import { useFormat } from './format.ts';
import styles from './marks.module.css';
import { OptionMark } from './marks.tsx';
import { useTexts } from './messages.tsx';
import type { Field } from './metamodel.tsx';

/** The lack of a value. */
export const none = <span className="muted">–</span>;

/** Whether a field has amounts of money. */
export const isMoney = (field: Field) => field.type === 'cost';

/** The value of a field, as its kind wants it. */
export function FieldValue({ field, value }: { field: Field; value: unknown }) {
  const format = useFormat();
  const t = useTexts();
  if (value === null || value === undefined || value === '') return none;
  const optionOf = (key: unknown) => {
    const at = field.options?.findIndex((option) => option.key === key) ?? -1;
    if (at < 0) return String(key);
    return (
      <OptionMark
        key={String(key)}
        option={field.options![at]!}
        field={field.key}
        step={field.options!.length - at}
      />
    );
  };
  if (field.options && Array.isArray(value))
    return <span className={styles.several}>{value.map(optionOf)}</span>;
  if (field.options) return optionOf(value);
  if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
  if (typeof value === 'number') return isMoney(field) ? format.money(value) : format.number(value);
  if (field.type === 'date') return format.date(String(value));
  if (field.type === 'url' && /^(https?:|mailto:)/.test(String(value)))
    return (
      <a className={styles.link} href={String(value)} target="_blank" rel="noopener noreferrer">
        {String(value).replace(/^https?:\/\//, '')}
      </a>
    );
  return String(value);
}
