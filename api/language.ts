import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedLanguages, chooseLanguage, DEFAULT_LANGUAGE } from '../domain/kernel/metamodel/languages.ts';

/**
 * The language of labels: the first of `Accept-Language` with a translation. Sets `Content-Language`; the ETag depends on
 * it.
 */
export function negotiateLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  translated: ReadonlySet<string>,
): string {
  const accepted = acceptedLanguages(request.headers['accept-language'], DEFAULT_LANGUAGE);
  const language = chooseLanguage(accepted, translated);
  const vary = reply.getHeader('vary');
  reply
    .header('content-language', language)
    .header('vary', vary === undefined ? 'Accept-Language' : `${vary}, Accept-Language`);
  return language;
}
