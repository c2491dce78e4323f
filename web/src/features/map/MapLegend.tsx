import { fillOf } from '../../../../reports/kernel/charts/charts.look.ts';
import { useLook } from '../../kit/charts.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Colouring, Measure } from './map.colours.ts';
import styles from './map.module.css';
import type { MapBox } from './map.tree.ts';

interface LegendProps {
  /** The boxes that are drawn without parts. */
  leaves: readonly MapBox[];
  colouring: Colouring;
  measure: Measure;
  /** The type of the cards in the boxes. */
  inside: string;
  only: string | undefined;
  onOnly(key: string | undefined): void;
}

/** What the colours mean, with the number of boxes of each; a click raises them. */
export function MapLegend({ leaves, colouring, measure, inside, only, onOnly }: LegendProps) {
  const t = useTexts();
  const { typeLabel } = useMetamodel();
  const look = useLook();
  const counts = new Map<string, number>();
  const dots = new Set<string>();
  for (const leaf of leaves) {
    const isGap = leaf.all.size === 0 && !measure.isOwn;
    const key = isGap ? 'gap' : colouring.keyOf(colouring.readValue(leaf));
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (!measure.isOwn) for (const { value } of leaf.all.values()) dots.add(colouring.keyOf(value));
  }
  const entries = [...colouring.legend, { key: 'gap', name: t('map.noMember'), paint: 'none' as const }];
  return (
    <div className={styles.legend} role="group" aria-label={t('map.legend')}>
      {entries.map(({ key, name, paint }) =>
        !counts.has(key) && dots.has(key) ? (
          <span key={key} className={styles.key}>
            <i className={styles.dot} style={{ background: fillOf(paint, look) }} />
            {name}
          </span>
        ) : counts.has(key) ? (
          <button
            key={key}
            type="button"
            className={styles.key}
            aria-pressed={only === key}
            data-faded={only !== undefined && only !== key}
            onClick={() => onOnly(only === key ? undefined : key)}
          >
            <i
              className={key === 'gap' ? styles.hatched : undefined}
              style={key === 'gap' ? undefined : { background: fillOf(paint, look) }}
            />
            {name}
            <span className="muted">{counts.get(key)}</span>
          </button>
        ) : null,
      )}
      {dots.size > 0 && (
        <span className={styles.keyNote}>
          <i className={styles.dot} />
          {t('map.dot', { type: typeLabel(inside) })}
        </span>
      )}
    </div>
  );
}
