import { ApiError, type FieldError } from '#client';
import { english } from '../messages/en.ts';
import { type MessageKey, useLanguage } from './messages.tsx';
import { useKnownMetamodel } from './metamodel.tsx';

/** Options that a reason names at most. */
const NAMED = 12;

/** Says why a member of a body was refused: by its code in the person's language, with the labels of the metamodel. */
export function useFieldReason(): (error: FieldError) => string {
  const { t, language } = useLanguage();
  const metamodel = useKnownMetamodel();
  return ({ field, code, message, value }) => {
    const key = keyOf(code);
    const [, name = ''] = /^attributes\.([^.]+)/.exec(field) ?? [];
    const definition = metamodel?.anyField(name);
    if (code === 'unknown_option' && definition?.options) {
      const labels = definition.options.map((option) => metamodel!.label(option));
      const options = [...labels.slice(0, NAMED), ...(labels.length > NAMED ? ['\u2026'] : [])].join(', ');
      return t('reason.unknown_option', { value: value ?? '', options });
    }
    if (code === 'wrong_type' && definition) return t('reason.wrong_type', { type: definition.type });
    // in English the service's own words say more
    return key && language !== 'en' && !/^(unknown_option|wrong_type)$/.test(code) ? t(key) : message;
  };
}

const keyOf = (code: string): MessageKey | undefined =>
  `reason.${code}` in english ? (`reason.${code}` as MessageKey) : undefined;

/** Says why something failed, as {@link useFieldReason} does. */
export function useReason(): (failed: unknown) => string {
  const { t, language } = useLanguage();
  const ofField = useFieldReason();
  return (failed) => {
    if (!(failed instanceof ApiError)) return failed instanceof Error ? failed.message : String(failed);
    if (failed.status === 0) return t('error.offline');
    const [first] = failed.errors;
    if (first) return ofField(first);
    const key = keyOf(failed.code);
    return key && language !== 'en' ? t(key) : failed.message;
  };
}
