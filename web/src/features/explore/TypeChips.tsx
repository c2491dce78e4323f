import { useFormat } from '../../kit/format.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './explorer.module.css';

interface TypeChipsProps {
  nodes: readonly { type: string }[];
  leftOut?: readonly { type: string; count: number }[];
  hide: readonly string[];
  onToggle(type: string): void;
}

/** The types of the shown cards with their numbers; a click leaves a type out. */
export function TypeChips({ nodes, leftOut = [], hide, onToggle }: TypeChipsProps) {
  const t = useTexts();
  const { number } = useFormat();
  const { types, plural } = useMetamodel();
  const counts = new Map<string, number>();
  for (const { type } of nodes) counts.set(type, (counts.get(type) ?? 0) + 1);
  for (const { type, count } of leftOut) counts.set(type, (counts.get(type) ?? 0) + count);
  return (
    <div className={styles.chips} role="group" aria-label={t('explorer.types')}>
      {types.map((type) =>
        counts.has(type.key) ? (
          <button
            key={type.key}
            type="button"
            className={styles.chip}
            aria-pressed={!hide.includes(type.key)}
            onClick={() => onToggle(type.key)}
          >
            <TypeMark type={type.key} size={18} />
            {plural(type, counts.get(type.key))}
            <span className="muted">{number(counts.get(type.key)!)}</span>
          </button>
        ) : null,
      )}
    </div>
  );
}
