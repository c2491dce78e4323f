import { Button, Checkbox, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Card, call, type SuggestFieldsResponse, suggestFields } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { Failure } from '../../kit/Failure.tsx';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { usePaths } from '../../kit/paths.tsx';
import { valueAt } from '../../kit/saveCard.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { useCard } from './context.tsx';
import { patchOf } from './EditableField.tsx';
import styles from './suggest.module.css';

type Suggestion = SuggestFieldsResponse['suggestions'][string];

const isSame = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** What a language model proposes for the card's fields, of which the person takes over what is right. */
export function SuggestDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { card } = useCard();
  const [seen] = useState(card);
  const { data, error, refetch } = useQuery({
    queryKey: ['card', card.id, 'suggestions'],
    queryFn: ({ signal }) => {
      const { type, name, subtype } = seen;
      return call(suggestFields({ signal, body: { type_key: type, name, subtype } }));
    },
    // each answer costs money
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog title={t('suggest.title')} size="lg" onClose={onClose}>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <RoutePending />}
      {data && <Suggestions answer={data} seen={seen} onClose={onClose} />}
    </Dialog>
  );
}

interface SuggestionsProps {
  answer: SuggestFieldsResponse;
  /** The card when the suggestions were asked for. */
  seen: Card;
  onClose(): void;
}

function Suggestions({ answer, seen, onClose }: SuggestionsProps) {
  const t = useTexts();
  const { change } = useCard();
  const offered = Object.entries(answer.suggestions).filter(
    ([path, { value }]) => value !== null && !isSame(value, valueAt(seen, path)),
  );
  // what is filled is only replaced if the person says so
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(offered.map(([path]) => path).filter((path) => isSame(valueAt(seen, path), null))),
  );
  const toggle = (path: string) => {
    const after = new Set(chosen);
    if (!after.delete(path)) after.add(path);
    setChosen(after);
  };
  const form = useSubmit(async () => {
    const taken = offered.filter(([path]) => chosen.has(path));
    const patches = taken.map(([path, { value }]) => patchOf(path, value));
    const attributes = Object.assign({}, ...patches.map((patch) => patch.attributes));
    const patch = {
      ...Object.assign({}, ...patches),
      ...(Object.keys(attributes).length > 0 && { attributes }),
    };
    await change(t('suggest.fields', { count: taken.length }), patch, seen);
  }, onClose);
  if (offered.length === 0) return <p className={styles.none}>{t('suggest.none')}</p>;
  return (
    <form onSubmit={form.submit}>
      <ul className={styles.list}>
        {offered.map(([path, suggestion]) => (
          <Offer
            key={path}
            path={path}
            suggestion={suggestion}
            present={valueAt(seen, path)}
            isChosen={chosen.has(path)}
            error={form.errorOf(path)}
            onToggle={() => toggle(path)}
          />
        ))}
      </ul>
      <Sources answer={answer} />
      {form.failure && <p className={styles.failure}>{form.failure}</p>}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button type="submit" loading={form.isBusy} disabled={chosen.size === 0}>
          {t('suggest.apply', { count: chosen.size })}
        </Button>
      </Group>
    </form>
  );
}

interface OfferProps {
  path: string;
  suggestion: Suggestion;
  present: unknown;
  isChosen: boolean;
  error: string | undefined;
  onToggle(): void;
}

function Offer({ path, suggestion, present, isChosen, error, onToggle }: OfferProps) {
  const t = useTexts();
  const { percent } = useFormat();
  const { card } = useCard();
  const { labelOf, shownValue } = usePaths(card.type);
  const { value, confidence, source } = suggestion;
  return (
    <li className={styles.offer}>
      <Checkbox aria-label={labelOf(path)} checked={isChosen} onChange={onToggle} />
      <div className={styles.text}>
        <span className="secondary">{labelOf(path)}</span>
        <span>
          {present !== null && <s className="muted">{shownValue(path, present)}</s>} {shownValue(path, value)}
        </span>
        <span className={styles.note}>
          {t('suggest.confidence', { share: percent(100 * confidence) })}
          {source && ` · ${source}`}
        </span>
        {error && <span className={styles.failure}>{error}</span>}
      </div>
    </li>
  );
}

/** By what the suggestions were made. */
function Sources({ answer: { model, sources } }: { answer: SuggestFieldsResponse }) {
  const t = useTexts();
  return (
    <p className={styles.note}>
      {model && t('suggest.model', { model })}{' '}
      {sources.map(({ url, title }) => {
        const text = title ?? url;
        if (!text) return null;
        return url && /^https?:/.test(url) ? (
          <a key={text} href={url} target="_blank" rel="noreferrer">
            {text}
          </a>
        ) : (
          <span key={text}>{text}</span>
        );
      })}
    </p>
  );
}
