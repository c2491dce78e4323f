import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, listCalculatedFields } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { Field } from '../../kit/metamodel.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';

/** Fields that formulas compute, by card type. */
const useCalculated = (): Record<string, string[]> | undefined =>
  useQuery({
    queryKey: ['metamodel', 'calculated'],
    queryFn: async ({ signal }) =>
      (await call(listCalculatedFields({ signal }))) as unknown as Record<string, string[]>,
  }).data;

interface Marks {
  /** What stands beside a field's name: that it is demanded, or who writes it. */
  (field: Field): ReactNode;
  /** Whether a formula writes it. */
  isFixed(field: Field): boolean;
}

/** Says of each field who writes it. */
export function useFieldMarks(): Marks {
  const t = useTexts();
  const { card } = useCard();
  const calculated = new Set(useCalculated()?.[card.type]);
  const mark = (icon: string, text: string) => (
    <Tooltip label={text}>
      <span className={styles.mark} role="img" aria-label={text}>
        <Icon name={icon} size={13} />
      </span>
    </Tooltip>
  );
  const marks = (field: Field): ReactNode => (
    <>
      {field.required && (
        <span className={styles.required} title={t('card.required')}>
          *
        </span>
      )}
      {calculated.has(field.key) && mark('function', t('card.calculated'))}
    </>
  );
  return Object.assign(marks, { isFixed: (field: Field) => calculated.has(field.key) });
}
