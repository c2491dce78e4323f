import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { type Lifecycle, phaseOn, today } from '../../kit/lifecycle.ts';
import { ApprovalMark, TagMark, ToneMark, TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { useUndoToast } from '../../kit/undo.tsx';
import { RoutePending } from '../../shell/RouteStates.tsx';
import styles from './card.module.css';
import { EditableField } from './EditableField.tsx';
import { LifecyclePanel } from './LifecyclePanel.tsx';
import { overviewQuery, usePatchCard } from './queries.ts';
import { RelationsPanel } from './RelationsPanel.tsx';
import { SidePanel } from './SidePanel.tsx';

/** The page of one card. */
export function CardPage() {
  const { id } = useParams({ from: '/app/cards/$id' });
  return (
    <Suspense fallback={<RoutePending />}>
      <CardView key={id} id={id} />
    </Suspense>
  );
}

function CardView({ id }: { id: string }) {
  const t = useTexts();
  const { data } = useSuspenseQuery(overviewQuery(id));
  const { card, hierarchy, permissions } = data;
  const { type: typeOf, label, sections } = useMetamodel();
  const patch = usePatchCard(id);
  const showUndo = useUndoToast();
  const type = typeOf(card.type);
  const canEdit = card.status === 'ACTIVE' && Boolean(permissions?.effective?.can_edit);
  const subtype = type?.subtypes.find((one) => one.key === card.subtype);
  const lifecycle = card.lifecycle as Lifecycle | null;
  const phase = phaseOn(lifecycle, today());
  const change = async (field: string, body: Parameters<typeof patch.mutateAsync>[0]) => {
    const batch = await patch.mutateAsync(body);
    showUndo(t('card.changed', { field }), batch);
  };
  const description = { key: 'description', type: 'multiline_text', label: t('field.description') };
  return (
    <Page
      title={
        <>
          <Link to="/inventory" search={{ type: card.type }} className="secondary">
            {type ? label(type) : card.type}
          </Link>
          {hierarchy?.ancestors.map((one) => (
            <span key={one.id} className="secondary">
              /{' '}
              <Link to="/cards/$id" params={{ id: one.id }}>
                {one.name}
              </Link>
            </span>
          ))}
          <span className="muted">/</span>
          <span className={styles.place}>{card.name}</span>
        </>
      }
    >
      <div className={styles.page}>
        <div className={styles.main}>
          <header className={styles.header}>
            <TypeMark type={card.type} size={44} />
            <div className={styles.heading}>
              <h1>
                {card.name}
                <ApprovalMark status={card.approval_status} />
                {phase && <ToneMark tone="neutral">{t(`phase.${phase}` as MessageKey)}</ToneMark>}
                {card.status === 'ARCHIVED' && <ToneMark tone="warn">{t('card.archived')}</ToneMark>}
              </h1>
              <EditableField
                field={description}
                value={card.description}
                canEdit={canEdit}
                onSave={(value) => change(description.label, { description: value as string | null })}
              />
              <div className={styles.chips}>
                {subtype && <span className={styles.chip}>{label(subtype as { label: string })}</span>}
                {card.tags?.map((tag) => (
                  <TagMark key={tag.id} name={tag.name} color={tag.color} />
                ))}
              </div>
            </div>
          </header>
          {lifecycle && Object.keys(lifecycle).length > 0 && <LifecyclePanel lifecycle={lifecycle} />}
          {sections(card.type).map(({ section, fields }) =>
            fields.length === 0 ? null : (
              <section key={section} className={styles.panel}>
                <h2>{section}</h2>
                <div className={styles.fields}>
                  {fields.map((field) => (
                    <EditableField
                      key={field.key}
                      field={field}
                      value={card.attributes[field.key]}
                      canEdit={canEdit}
                      onSave={(value) => change(label(field), { attributes: { [field.key]: value } })}
                    />
                  ))}
                </div>
              </section>
            ),
          )}
          <RelationsPanel overview={data} />
        </div>
        <SidePanel overview={data} />
      </div>
    </Page>
  );
}
