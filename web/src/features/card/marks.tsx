import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, listCalculatedFields, type ReadCardSourcesResponse, readCardSources } from '#client';
import { useFormat } from '../../kit/format.ts';
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

type Source = ReadCardSourcesResponse['items'][number];

/** The fields of the card that are synchronised, by path. */
export function useSources(): ReadonlyMap<string, Source> {
  const { card } = useCard();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'sources'],
    queryFn: ({ signal }) => call(readCardSources({ signal, path: { id: card.id } })),
  });
  return new Map(data?.items.map((source) => [source.field, source]));
}

/** An icon beside a field's name, with what it means. */
function Mark({ icon, text }: { icon: string; text: string }) {
  return (
    <Tooltip label={text} multiline maw={280}>
      <span className={styles.mark} role="img" aria-label={text}>
        <Icon name={icon} size={13} />
      </span>
    </Tooltip>
  );
}

/** With what a field is synchronised, when it was last written from there, and who wins. */
export function SourceMark({ source }: { source: Source | undefined }) {
  const t = useTexts();
  const format = useFormat();
  if (!source) return null;
  const { source: name, direction, written_at } = source;
  const parts = [
    written_at ? t('sources.written', { name, when: format.ago(written_at) }) : t('sources.linked', { name }),
    t(`sources.${direction}`),
  ];
  return <Mark icon="cloud_sync" text={parts.join(' ')} />;
}

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
  const sources = useSources();
  const calculated = new Set(useCalculated()?.[card.type]);
  const marks = (field: Field): ReactNode => (
    <>
      {field.required && (
        <span className={styles.required} title={t('card.required')}>
          *
        </span>
      )}
      {calculated.has(field.key) && <Mark icon="function" text={t('card.calculated')} />}
      <SourceMark source={sources.get(`attributes.${field.key}`)} />
    </>
  );
  return Object.assign(marks, { isFixed: (field: Field) => calculated.has(field.key) });
}
