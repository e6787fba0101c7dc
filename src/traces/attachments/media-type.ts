/** A type and a subtype, each a token of RFC 6838; parameters are cut off where parts are read. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** The media type with which an attachment is sent: that of its client, if it is valid in a header. */
export const mediaTypeOf = (named: string): string => (MEDIA_TYPE.test(named) ? named : 'application/octet-stream');
