/** Stands for the URL of a webhook whose sealing key is gone: its delivery is stored all the same, and refused at its first attempt. */
export const UNREADABLE_URL = 'unreadable';
