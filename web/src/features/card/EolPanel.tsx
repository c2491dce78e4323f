import { Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, findEolProducts, type ListEolCyclesResponse, listEolCycles } from '#client';
import { useFormat } from '../../kit/format.ts';
import { today } from '../../kit/lifecycle.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Picker } from '../../kit/Picker.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';

type Cycle = ListEolCyclesResponse['items'][number];

/** From which score on a product is proposed. */
const LIKELY = 0.6;

/** Types whose cards are linked to products. */
const linked = new Set(['Application', 'ITComponent']);

const useCycles = (product: string | undefined) =>
  useQuery({
    queryKey: ['eol', product],
    queryFn: ({ signal }) =>
      call(
        listEolCycles({
          signal,
          path: { product: product! },
          query: { page_size: 200, sort_by: 'releaseDate', sort_dir: 'desc' },
        }),
      ),
    enabled: product !== undefined,
  }).data?.items;

/** Until when the product of the card is supported: the link to it, or what it probably is. */
export function EolPanel() {
  const t = useTexts();
  const { card, overview, can, change } = useCard();
  const [product, setProduct] = useState<string>();
  const mayView = Boolean(overview.permissions?.app_level?.['eol.view']);
  const { eol_product: ownProduct, eol_cycle: ownCycle } = card.attributes as Record<
    string,
    string | undefined
  >;
  const isOpen = product !== undefined;
  const cycles = useCycles(mayView && linked.has(card.type) ? (product ?? ownProduct) : undefined);
  if (!mayView || !linked.has(card.type) || (!ownProduct && !can('edit'))) return null;
  const link = (eol_product: string | null, eol_cycle: string | null) => {
    setProduct(undefined);
    return change(t('eol.title'), { attributes: { eol_product, eol_cycle } }, card);
  };
  const cycle = cycles?.find((one) => one.cycle === ownCycle);
  return (
    <section className={styles.panel} aria-label={t('eol.title')}>
      <h2>
        {t('eol.title')}
        {ownProduct && can('edit') && !isOpen && (
          <span className={styles.headButton}>
            <Button size="compact-xs" variant="subtle" onClick={() => setProduct(ownProduct)}>
              {t('eol.change')}
            </Button>
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => void link(null, null)}>
              {t('eol.unlink')}
            </Button>
          </span>
        )}
      </h2>
      {ownProduct && !isOpen && <Linked product={ownProduct} cycle={ownCycle} facts={cycle} />}
      {!ownProduct && !isOpen && <Suggestion onPick={setProduct} />}
      {isOpen && (
        <div className={styles.line}>
          <strong>{product}</strong>
          <Select
            aria-label={t('eol.cycle')}
            placeholder={t('eol.cycle')}
            searchable
            autoFocus
            data={(cycles ?? []).map((one) => one.cycle!)}
            value={product === ownProduct ? (ownCycle ?? null) : null}
            onChange={(chosen) => chosen && void link(product, chosen)}
          />
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setProduct(undefined)}>
            {t('action.cancel')}
          </Button>
        </div>
      )}
    </section>
  );
}

function Linked({
  product,
  cycle,
  facts,
}: {
  product: string;
  cycle: string | undefined;
  facts: Cycle | undefined;
}) {
  const t = useTexts();
  const format = useFormat();
  const when = (value: Cycle['eol']) =>
    typeof value === 'string'
      ? format.date(value)
      : value === true
        ? t('value.yes')
        : value === false
          ? t('value.no')
          : undefined;
  const end = facts?.eol;
  const isOver = end === true || (typeof end === 'string' && end <= today());
  const soon = new Date(Date.now() + 180 * 86_400_000).toISOString().slice(0, 10);
  const isNear = typeof end === 'string' && !isOver && end <= soon;
  const lines: [string, string | null | undefined][] = [
    [t('eol.end'), when(end)],
    [t('eol.support'), when(facts?.support)],
    [t('eol.latest'), facts?.latest],
    [t('eol.released'), facts?.releaseDate ? format.date(facts.releaseDate) : undefined],
    [t('eol.lts'), when(facts?.lts)],
    [t('eol.codename'), facts?.codename],
  ];
  return (
    <>
      <p className={styles.line}>
        <strong>
          {product} {cycle}
        </strong>
        <ToneMark
          tone={isOver ? 'bad' : isNear ? 'warn' : end === undefined || end === null ? 'neutral' : 'ok'}
        >
          {t(
            isOver
              ? 'eol.over'
              : isNear
                ? 'eol.near'
                : end === undefined || end === null
                  ? 'eol.unknown'
                  : 'eol.supported',
          )}
        </ToneMark>
        {facts?.link && /^https?:/.test(facts.link) && (
          <a href={facts.link} target="_blank" rel="noopener noreferrer" className={styles.moreButton}>
            {t('eol.notes')}
          </a>
        )}
      </p>
      <div className={styles.fields}>
        {lines
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <div key={label} className={styles.field}>
              <span className={styles.name}>{label}</span>
              <span className={styles.fixed}>{value}</span>
            </div>
          ))}
      </div>
    </>
  );
}

function Suggestion({ onPick }: { onPick(product: string): void }) {
  const t = useTexts();
  const { card } = useCard();
  const { data } = useQuery({
    queryKey: ['eol', 'suggested', card.name],
    queryFn: ({ signal }) => call(findEolProducts({ signal, query: { search: card.name, page_size: 1 } })),
  });
  const [best] = data?.items ?? [];
  return (
    <div className={styles.line}>
      {best && best.score! >= LIKELY && (
        <Button size="compact-xs" variant="light" onClick={() => onPick(best.name!)}>
          {t('eol.suggested', { name: best.label })}
        </Button>
      )}
      <Picker
        label={t('eol.find')}
        placeholder={t('eol.find')}
        queryKey={['eol', 'find', card.name]}
        read={({ search, ...page }, signal) =>
          call(findEolProducts({ signal, query: { ...page, search: search || card.name } }))
        }
        idOf={(item) => item.name!}
        textOf={(item) => item.label!}
        onPick={(item) => onPick(item.name!)}
      >
        {(item) => item.label}
      </Picker>
    </div>
  );
}
