/**
 * Stands for the URL of a webhook that no key opens: its delivery is stored all the same, and refused at its first attempt. Also shown
 * for a URL whose key the process that stored the delivery lacked.
 */
export const UNREADABLE_URL = 'unreadable';
