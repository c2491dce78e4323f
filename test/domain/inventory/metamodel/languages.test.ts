import { describe, expect, it } from 'vitest';
import {
  acceptedLanguages,
  canonicalLanguage,
  chooseLanguage,
  fallbacks,
} from '../../../../domain/kernel/metamodel/languages.ts';

describe('Accept-Language', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['de', ['de']],
    ['fr;q=0.5, DE-at, en;q=0.8', ['de-AT', 'en', 'fr']],
    ['de;q=0, fr', ['fr']],
    ['*', ['en']],
    ['de;q=0.5,*;q=0.7', ['en', 'de']],
    ['zh-hant-tw', ['zh-Hant-TW']],
    ['de;q=2, fr;q=x, it; q=0.1', ['it']],
    ['label, __proto__, 12, de_AT', []],
    [`${'x-'.repeat(5000)}, de`, ['de']],
    ['de, de;q=0.1', ['de']],
  ])('%j wants %j', (header, wanted) => {
    expect(acceptedLanguages(header)).toEqual(wanted);
  });

  it.each([
    [['de-AT', 'fr'], ['de', 'fr'], 'de'],
    [['de-AT'], ['de-AT', 'de'], 'de-AT'],
    [['it', 'fr'], ['fr'], 'fr'],
    [['it', 'en', 'fr'], ['fr'], 'en'],
    [['en-GB', 'fr'], ['fr'], 'en'],
    [['en-GB', 'fr'], ['en-GB'], 'en-GB'],
    [['it'], ['fr'], 'en'],
    [[], ['fr'], 'en'],
  ])('%j of %j is answered in %s', (wanted, translated, language) => {
    expect(chooseLanguage(wanted, new Set(translated))).toBe(language);
  });

  it('falls back part by part, and spells tags in one way', () => {
    expect(fallbacks('zh-Hant-TW')).toEqual(['zh-Hant-TW', 'zh-Hant', 'zh']);
    expect(canonicalLanguage('PT-br')).toBe('pt-BR');
    expect(canonicalLanguage('deutsch')).toBeUndefined();
    expect(canonicalLanguage("de'}")).toBeUndefined();
  });
});
