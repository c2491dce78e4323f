import { ActionIcon } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import {
  answer,
  call,
  linkAdrCard,
  linkDiagramCard,
  linkRiskCards,
  listAdrs,
  listCardAdrs,
  listCardComplianceFindings,
  listCardRisks,
  listDiagrams,
  listRisks,
  listSoaws,
  unlinkAdrCard,
  unlinkDiagramCard,
  unlinkRiskCard,
} from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { type Tone, ToneMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { Picker } from '../../kit/Picker.tsx';
import { useReason } from '../../kit/reasons.ts';
import { AudiencePanel } from './AudiencePanel.tsx';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

/** Objects of each list that are shown. */
const PAGE = 50;

/** Where the card is used: decisions, diagrams, risks, findings, statements; and who sees it outside of the application. */
export function UsedTab() {
  const { card, overview } = useCard();
  const { counts } = overview;
  return (
    <div className={styles.narrow}>
      {typeof counts?.decisions === 'number' && <Decisions />}
      {typeof counts?.diagrams === 'number' && <Diagrams />}
      {typeof counts?.risks === 'number' && <Risks />}
      {typeof counts?.compliance_findings === 'number' && counts.compliance_findings > 0 && <Findings />}
      {card.type === 'Initiative' && <Statements />}
      <AudiencePanel />
    </div>
  );
}

interface Item {
  id: string;
  icon: string;
  name: string;
  note: string;
  mark?: ReactNode;
  /** Takes the card off it. */
  unlink?: () => Promise<Headers>;
}

interface ListedProps {
  title: string;
  none: string;
  items: readonly Item[] | undefined;
  total?: number | undefined;
  /** Finds others to link; it gets what closes it. */
  finder?: (close: () => void) => ReactNode;
}

/** A list of objects that the card is linked to. */
function Listed({ title, none, items, total = 0, finder }: ListedProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const { act } = useCard();
  const [isOpen, setOpen] = useState(false);
  const unlink = async ({ name, unlink: run }: Item) => {
    try {
      await act(t('used.unlinked', { name }), run!);
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  return (
    <section className={styles.box} aria-label={title} aria-busy={!items}>
      <h2 className={styles.heading}>
        {title} <span className="secondary">{total || ''}</span>
        {finder && (
          <ActionIcon
            size="sm"
            className={styles.right}
            aria-label={t('used.link', { title })}
            onClick={() => setOpen(true)}
          >
            <Icon name="add_link" />
          </ActionIcon>
        )}
      </h2>
      {isOpen && finder?.(() => setOpen(false))}
      {items?.length === 0 && !isOpen && <p className="muted">{none}</p>}
      <ul className={styles.list}>
        {items?.map((item) => (
          <li key={item.id} className={styles.item}>
            <Icon name={item.icon} size={18} />
            <div className={styles.itemText}>
              <span>{item.name}</span>
              <span className="secondary">{item.note}</span>
            </div>
            {item.mark}
            {item.unlink && (
              <button
                type="button"
                className={styles.iconButton}
                aria-label={t('used.unlink', { name: item.name })}
                onClick={() => void unlink(item)}
              >
                <Icon name="link_off" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {items && total > items.length && (
        <p className="secondary">{t('facets.more', { count: total - items.length })}</p>
      )}
    </section>
  );
}

/** Links the card to an object that was found. */
function useLink() {
  const t = useTexts();
  const reasonOf = useReason();
  const { act } = useCard();
  return async (name: string, write: () => Promise<Headers>) => {
    try {
      await act(t('used.linked', { name }), write);
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
}

const levels: Record<string, Tone> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'ok',
  info: 'info',
};

function Decisions() {
  const t = useTexts();
  const { card, can } = useCard();
  const link = useLink();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'decisions'],
    queryFn: ({ signal }) =>
      call(listCardAdrs({ signal, path: { card_id: card.id }, query: { page_size: PAGE } })),
  });
  return (
    <Listed
      title={t('used.decisions')}
      none={t('used.noDecisions')}
      total={data?.total}
      items={data?.items.map(({ id, title, reference_number, status }) => ({
        id: id!,
        icon: 'gavel',
        name: title!,
        note: `${reference_number} · ${t(`used.adr.${status}` as MessageKey)}`,
        ...(can('manage_adr_links') && {
          unlink: async () =>
            (await answer(unlinkAdrCard({ path: { adr_id: id!, card_id: card.id } }))).headers,
        }),
      }))}
      {...(can('manage_adr_links') && {
        finder: (close) => (
          <Picker
            autoFocus
            label={t('used.find')}
            placeholder={t('used.find')}
            queryKey={['adr']}
            read={({ search, ...page }, signal) =>
              call(listAdrs({ signal, query: { ...page, ...(search && { search }) } }))
            }
            idOf={({ id }) => id!}
            textOf={({ title }) => title!}
            onCancel={close}
            onPick={({ id, title }) => {
              close();
              void link(title!, async () => {
                const body = { card_id: card.id };
                return (await answer(linkAdrCard({ path: { adr_id: id! }, body }))).headers;
              });
            }}
          >
            {({ title, reference_number }) => `${reference_number} ${title}`}
          </Picker>
        ),
      })}
    />
  );
}

function Diagrams() {
  const t = useTexts();
  const { card, can } = useCard();
  const link = useLink();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'diagrams'],
    queryFn: ({ signal }) =>
      call(
        listDiagrams({
          signal,
          query: { card_id: card.id, page_size: PAGE, fields: 'id,name,created_by_name,card_count,card_ids' },
        }),
      ),
  });
  return (
    <Listed
      title={t('used.diagrams')}
      none={t('used.noDiagrams')}
      total={data?.total}
      items={data?.items.map(({ id, name, created_by_name, card_count }) => ({
        id: id!,
        icon: 'schema',
        name: name!,
        note: [created_by_name, t('used.cards', { count: card_count })].filter(Boolean).join(' · '),
        ...(can('manage_diagram_links') && {
          unlink: async () =>
            (await answer(unlinkDiagramCard({ path: { diagram_id: id!, card_id: card.id } }))).headers,
        }),
      }))}
      {...(can('manage_diagram_links') && {
        finder: (close) => (
          <Picker
            autoFocus
            label={t('used.find')}
            placeholder={t('used.find')}
            queryKey={['diagrams']}
            read={({ search, ...page }, signal) =>
              call(listDiagrams({ signal, query: { ...page, ...(search && { search }), fields: 'id,name' } }))
            }
            idOf={({ id }) => id!}
            textOf={({ name }) => name!}
            onCancel={close}
            onPick={({ id, name }) => {
              close();
              void link(name!, async () => {
                const body = { card_id: card.id };
                return (await answer(linkDiagramCard({ path: { diagram_id: id! }, body }))).headers;
              });
            }}
          >
            {({ name }) => name}
          </Picker>
        ),
      })}
    />
  );
}

function Risks() {
  const t = useTexts();
  const { card, asOf, overview } = useCard();
  const link = useLink();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'risks'],
    queryFn: ({ signal }) =>
      call(listCardRisks({ signal, path: { card_id: card.id }, query: { page_size: PAGE } })),
  });
  const mayLink = Boolean(overview.permissions?.app_level?.['risks.manage']) && !asOf;
  return (
    <Listed
      title={t('used.risks')}
      none={t('used.noRisks')}
      total={data?.total}
      items={data?.items.map(
        ({ id, title, reference, status, residual_level, initial_level, owner_name }) => {
          const level = residual_level ?? initial_level!;
          return {
            id: id!,
            icon: 'warning',
            name: title!,
            note: [reference, t(`risk.${status}` as MessageKey), owner_name].filter(Boolean).join(' · '),
            mark: <ToneMark tone={levels[level]!}>{t(`level.${level}` as MessageKey)}</ToneMark>,
            ...(mayLink && {
              unlink: async () =>
                (await answer(unlinkRiskCard({ path: { risk_id: id!, card_id: card.id } }))).headers,
            }),
          };
        },
      )}
      {...(mayLink && {
        finder: (close) => (
          <Picker
            autoFocus
            label={t('used.find')}
            placeholder={t('used.find')}
            queryKey={['risks']}
            read={({ search, ...page }, signal) =>
              call(listRisks({ signal, query: { ...page, ...(search && { search }) } }))
            }
            idOf={({ id }) => id!}
            textOf={({ title }) => title!}
            onCancel={close}
            onPick={({ id, title }) => {
              close();
              void link(title!, async () => {
                const body = { card_ids: [card.id] };
                return (await answer(linkRiskCards({ path: { risk_id: id! }, body }))).headers;
              });
            }}
          >
            {({ title, reference }) => `${reference} ${title}`}
          </Picker>
        ),
      })}
    />
  );
}

function Findings() {
  const t = useTexts();
  const { card } = useCard();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'findings'],
    queryFn: ({ signal }) =>
      call(listCardComplianceFindings({ signal, path: { card_id: card.id }, query: { page_size: PAGE } })),
  });
  return (
    <Listed
      title={t('used.findings')}
      none={t('used.noRisks')}
      total={data?.total}
      items={data?.items.map(
        ({ id, requirement, regulation, regulation_article, gap_description, severity }) => ({
          id: id!,
          icon: 'policy',
          name: requirement!,
          note: [regulation, regulation_article, gap_description].filter(Boolean).join(' · '),
          mark: <ToneMark tone={levels[severity!]!}>{t(`level.${severity}` as MessageKey)}</ToneMark>,
        }),
      )}
    />
  );
}

function Statements() {
  const t = useTexts();
  const { card, overview } = useCard();
  const mayView = Boolean(overview.permissions?.app_level?.['soaw.view']);
  const { data } = useQuery({
    queryKey: ['card', card.id, 'statements'],
    queryFn: ({ signal }) =>
      call(
        listSoaws({
          signal,
          query: {
            initiative_id: card.id,
            page_size: PAGE,
            fields: 'id,name,status,revision_number,creator_name',
          },
        }),
      ),
    enabled: mayView,
  });
  if (!mayView) return null;
  return (
    <Listed
      title={t('used.statements')}
      none={t('used.noStatements')}
      total={data?.total}
      items={data?.items.map(({ id, name, status, revision_number, creator_name }) => ({
        id: id!,
        icon: 'description',
        name: name!,
        note: [t(`used.adr.${status}` as MessageKey), `r${revision_number}`, creator_name]
          .filter(Boolean)
          .join(' · '),
      }))}
    />
  );
}
