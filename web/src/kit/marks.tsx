import { Icon } from './Icon.tsx';
import styles from './marks.module.css';
import type { MessageKey } from './messages.tsx';
import { useTexts } from './messages.tsx';
import { type Option, useMarkColour, useMetamodel, useTypeColours } from './metamodel.tsx';
import { categorical } from './people.ts';

/** The icon of a card type on its tint. */
export function TypeMark({ type, size = 20 }: { type: string; size?: number }) {
  const { type: typeOf, label } = useMetamodel();
  const found = typeOf(type);
  const { tint, ink } = useTypeColours(found?.color);
  return (
    <span
      className={styles.type}
      style={{ width: size, height: size, background: tint, color: ink }}
      role="img"
      aria-label={found ? label(found) : type}
      title={found ? label(found) : type}
    >
      <Icon name={found?.icon ?? 'circle'} size={Math.round(size * 0.7)} />
    </span>
  );
}

/** Options of one field that say good or bad in four steps are drawn as pips. */
const isOrdered = (field: string) => /suitability|fit$/i.test(field);

/** An option: a mark in its colour with its label beside it. */
export function OptionMark({ option, field, step }: { option: Option; field: string; step?: number }) {
  const { label } = useMetamodel();
  const color = useMarkColour(option.color);
  return (
    <span className={styles.option}>
      {isOrdered(field) && step !== undefined ? (
        <span className={styles.pips} aria-hidden="true">
          {[1, 2, 3, 4].map((pip) => (
            <i key={pip} style={pip <= step ? { background: color } : undefined} />
          ))}
        </span>
      ) : (
        option.color && <i className={styles.dot} style={{ background: color }} />
      )}
      <span>{label(option)}</span>
    </span>
  );
}

/** A tag with a square in its colour. */
export function TagMark({ name, color }: { name: string; color: string | null }) {
  const mark = useMarkColour(color ?? undefined);
  return (
    <span className={styles.tag}>
      <i style={{ background: mark }} />
      {name}
    </span>
  );
}

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'neutral';

/** A word on a tint. */
export function ToneMark({ tone, icon, children }: { tone: Tone; icon?: string; children: React.ReactNode }) {
  const colours =
    tone === 'neutral'
      ? { background: 'var(--sunken)', color: 'var(--text2)' }
      : { background: `var(--${tone}-tint)`, color: `var(--${tone})` };
  return (
    <span className={styles.tone} style={colours}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </span>
  );
}

const approvals: Record<string, { tone: Tone; icon: string; text: MessageKey }> = {
  DRAFT: { tone: 'neutral', icon: 'edit', text: 'approval.draft' },
  APPROVED: { tone: 'ok', icon: 'verified', text: 'approval.approved' },
  BROKEN: { tone: 'warn', icon: 'link_off', text: 'approval.broken' },
  REJECTED: { tone: 'bad', icon: 'block', text: 'approval.rejected' },
};

/** The state of a card's approval: icon, word and tone. */
export function ApprovalMark({ status }: { status: string }) {
  const t = useTexts();
  const known = approvals[status];
  if (!known) return null;
  return (
    <ToneMark tone={known.tone} icon={known.icon}>
      {t(known.text)}
    </ToneMark>
  );
}

/** A person's initials in a colour of their own. */
export function Avatar({ name, size = 24 }: { name: string; size?: number }) {
  const initials = name
    .split(/\s+/)
    .map((part) => part[0] ?? '')
    .filter(Boolean);
  const text = `${initials[0] ?? '?'}${initials.length > 1 ? initials.at(-1) : ''}`.toUpperCase();
  return (
    <span
      className={styles.avatar}
      style={{ width: size, height: size, background: categorical(name), fontSize: size * 0.42 }}
      title={name}
      role="img"
      aria-label={name}
    >
      {text}
    </span>
  );
}
